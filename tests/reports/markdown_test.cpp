#include <gtest/gtest.h>

#include <sstream>

#include "attnscope/render.h"
#include "markdown/escape.h"
#include "sample_report.h"
#include "unicode.h"

namespace attnscope {
namespace {

using namespace reports;

TEST(Markdown, TextDoesNothing) {
    EXPECT_EQ(markdown_text("masked_fill_ of a|b"), "masked_fill\\_ of a\\|b");
    EXPECT_EQ(markdown_text("<b>&"), "&lt;b&gt;&amp;");
    EXPECT_EQ(markdown_text("![x](y) `c` **s** ~~d~~ $m$"),
              "\\!\\[x\\](y) \\`c\\` \\*\\*s\\*\\* \\~\\~d\\~\\~ \\$m\\$");
    EXPECT_EQ(markdown_text("@user #12"), "@&#8203;user #&#8203;12");
    EXPECT_EQ(markdown_text("a\n# b"), "a # b");
}

TEST(Markdown, CodeSpansCannotBeClosedFromInside) {
    EXPECT_EQ(markdown_code("a`b"), "``a`b``");
    EXPECT_EQ(markdown_code("`"), "`` ` ``");
    EXPECT_EQ(markdown_code("a|b\\", true), "`a\\|b⧵`");
    EXPECT_EQ(markdown_code(""), "(empty)");
}

TEST(Markdown, WrappedLinesBeginNoBlock) {
    EXPECT_EQ(markdown_lines("aaaa - b", 4), "aaaa\n\\- b\n");
    EXPECT_EQ(markdown_lines("aaaa 1. b", 4), "aaaa\n1\\. b\n");
    EXPECT_EQ(markdown_lines("aaaa === b", 4), "aaaa\n\\===\nb\n");
    EXPECT_EQ(markdown_lines("aaaa # b", 4), "aaaa\n\\# b\n");
    EXPECT_EQ(markdown_lines("aaaa `x - y z`", 6), "aaaa\n`x - y z`\n");  // a code span stays on its line
}

TEST(Markdown, VerdictFirstThenTableFindingsAndTheRest) {
    const std::string text = render_markdown(test::sample_report());
    size_t last = 0;
    for (const char* part :
         {"# Attention", "> **PREDICTED**", "sdpa_flash needs one kernel", "| implementation",
          "**sdpa_cudnn** refused: cuDNN attention", "**data lost**", "Where numbers come from",
          "## Findings", "### P1", "2 more findings", "## Kernels", "## What this report cannot tell",
          "## How the numbers were made", "## Environment", "## Reproduce"}) {
        const size_t at = text.find(part, last);
        ASSERT_NE(at, std::string::npos) << part;
        last = at;
    }
}

TEST(Markdown, VisibleLinesAreOfReasonableLength) {
    std::istringstream lines(render_markdown(test::sample_report()));
    int folded = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("<details>")) ++folded;
        if (line == "</details>") --folded;
        if (folded == 0) {
            EXPECT_LE(width_of(line), 160U) << line;
        }
    }
    EXPECT_EQ(folded, 0);
}

TEST(Markdown, PredictedInItalicsMissingWithReason) {
    const std::string text = render_markdown(test::sample_report());
    EXPECT_NE(text.find("*268.4 MB*"), std::string::npos);
    EXPECT_NE(text.find("- ¹ chosen by the library on a real GPU"), std::string::npos);
    EXPECT_EQ(render_markdown(test::measured_report()).find("*412.3 µs*"), std::string::npos);
}

TEST(Markdown, TablesKeepTheirColumns) {
    std::istringstream lines(render_markdown(test::hostile_report("a|b`|\\|`\n|")));
    size_t columns = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ") && !line.starts_with("|-")) {
            columns = 0;
            continue;
        }
        size_t bars = 0;
        for (size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
        if (columns > 0) {
            EXPECT_EQ(bars, columns) << line;
        }
        columns = bars;
    }
}

}  // namespace
}  // namespace attnscope
