// The sample reports as files, to be read in a review. ATTNSCOPE_REGENERATE=1 writes them anew.
#include <gtest/gtest.h>

#include "attnscope/render.h"
#include "golden.h"
#include "sample_report.h"

namespace attnscope {
namespace {

void expect_golden(const std::string& name, const std::string& actual) {
    test::expect_golden("tests/reports/golden/" + name, actual);
}

/// The style sheet and the embedded JSON have files of their own.
std::string readable(std::string page) {
    const auto cut = [&](const std::string& from, const std::string& to) {
        const size_t start = page.find(from) + from.size();
        page.replace(start, page.find(to, start) - start, "...");
    };
    cut("<style>", "</style>");
    cut("gzip;base64,", "\"");
    cut("style-src 'sha256-", "'");
    return page;
}

TEST(Golden, Text) {
    expect_golden("sample.txt", render_text(test::sample_report()));
}
TEST(Golden, TextWithDetails) {
    expect_golden("sample-details.txt", render_text(test::sample_report(), {100, false, true}));
}
TEST(Golden, MeasuredText) {
    expect_golden("measured.txt", render_text(test::measured_report()));
}
TEST(Golden, MeasuredMarkdown) {
    expect_golden("measured.md", render_markdown(test::measured_report()));
}
TEST(Golden, Markdown) {
    expect_golden("sample.md", render_markdown(test::sample_report()));
}
TEST(Golden, Html) {
    expect_golden("sample.html", readable(render_html(test::sample_report())));
}
TEST(Golden, Json) {
    expect_golden("sample.json", render_json(test::sample_report()));
}
TEST(Golden, Empty) {
    expect_golden("empty.md", render_markdown(Report{}));
    expect_golden("empty.html", readable(render_html(Report{})));
}

}  // namespace
}  // namespace attnscope
