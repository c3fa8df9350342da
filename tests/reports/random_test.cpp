// Hundreds of reports that nobody would write: every format renders each of them, and what a page shows is
// what the JSON holds.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "attnscope/render.h"
#include "format.h"
#include "random_report.h"
#include "support/page_numbers.h"
#include "unicode.h"

namespace attnscope {
namespace {

/// A chart's table has as many numbers as the JSON, in HTML and, with the same rounding, in Markdown; which
/// ones they are numbers_test.cpp holds.
void expect_chart_numbers(const Report& report, const pugi::xml_document& document) {
    size_t shown = 0, held = 0;
    const std::string markdown = render_markdown(report);
    for (test::PageNumber& number : test::numbers_within(document)) {
        if (!number.in_chart) continue;
        ++shown;
        std::string& text = number.text;
        for (size_t at; (at = text.find("\xC2\xA0")) != std::string::npos;) text.replace(at, 2, " ");
        EXPECT_NE(markdown.find(text), std::string::npos) << text;
    }
    const nlohmann::json json = nlohmann::json::parse(render_json(report));
    for (const auto& section : json.at("sections"))
        for (const auto& chart : section.at("charts"))
            for (const auto& point : chart.at("points"))
                for (const char* axis : {"x", "y"})
                    if (point.contains(axis)) ++held;
    EXPECT_EQ(shown, held);
}

TEST(RandomReports, RenderInEveryFormatAndNumbersAgree) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Report report = test::Random(seed).report();
        const std::string page = render_html(report);
        pugi::xml_document document;
        const auto parsed = document.load_buffer(page.data(), page.size());
        ASSERT_TRUE(parsed) << parsed.description() << ": "
                            << page.substr(static_cast<size_t>(parsed.offset), 100);
        ASSERT_TRUE(nlohmann::json::accept(render_json(report)));
        // A rounded text stands beside its exact value; both are the format module's.
        for (const test::PageNumber& number : test::numbers_within(document)) {
            const double value = *number.exact;
            std::string text = number.text;
            std::erase(text, ',');
            const double digits = std::stod(text);
            EXPECT_EQ(digits == 0, value == 0) << text << " for " << value;  // nothing is rounded away to 0
            EXPECT_EQ(digits < 0, value < 0) << text << " for " << value;
        }
        // Every number of an evidence table is on the page.
        std::vector<double> shown, held;
        for (const auto& article : document.select_nodes("//article"))
            for (const test::PageNumber& number : test::numbers_within(article.node()))
                shown.push_back(*number.exact);
        for (const Finding& finding : report.findings)
            for (const Evidence& evidence : finding.evidence)
                if (reports::is_shown(evidence.value)) held.push_back(*evidence.value.number);
        ASSERT_EQ(shown.size(), held.size());
        for (size_t i = 0; i < held.size(); ++i) EXPECT_NEAR(shown[i], held[i], 1e-12 * std::fabs(held[i]));
        expect_chart_numbers(report, document);
        std::istringstream lines(render_text(report, {72, false, true}));
        for (std::string line; std::getline(lines, line);) EXPECT_LE(reports::width_of(line), 72U) << line;
    }
}

}  // namespace
}  // namespace attnscope
