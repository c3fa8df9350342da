// The pull request's comment: found again, short, and honest about what it leaves out.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "attnscope/render.h"
#include "sample_report.h"

namespace attnscope {
namespace {

/// Nothing that concerns anybody.
Report well() {
    Report report = test::sample_report();
    std::erase_if(report.findings, [](const Finding& f) { return f.severity >= Severity::warning; });
    std::erase_if(report.notices, [](const Notice& n) { return n.level != NoticeLevel::info; });
    return report;
}

size_t rows(const std::string& comment) {
    std::istringstream lines(comment);
    size_t n = 0;
    for (std::string line; std::getline(lines, line);) n += line.starts_with("| ");
    return n == 0 ? 0 : n - 1;  // without the head
}

TEST(Comment, TwoLinesWhenAllIsWell) {
    const std::string text = render_comment(well(), {"main-h200"});
    EXPECT_EQ(text.rfind("<!-- attnscope:id=main-h200 -->\n### attnscope: ✅ nothing of concern\n", 0), 0U)
        << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
    EXPECT_LE(text.size(), 600U);
    EXPECT_NE(text.find("PREDICTED"), std::string::npos) << "a prediction says so even here";
    EXPECT_LE(render_comment(test::hostile_report(std::string(5123, 'k')), {}).size(), kCommentBudget);
    Report long_words = well();
    long_words.answer.front() = std::string(3000, '_');
    long_words.banner = std::string(3000, '<');
    EXPECT_LE(render_comment(long_words, {std::string(400, 'x')}).size(), 600U)
        << "even where each character is escaped";
}

TEST(Comment, VerdictCauseTableAndTheRestFolded) {
    const std::string text = render_comment(test::sample_report(), {"pr"});
    size_t last = 0;
    for (const char* part : {"<!-- attnscope:id=pr -->\n", "### attnscope: ❌ 1 loss of data, 1 problem, ",
                             "sdpa_flash needs one kernel", "**3 kernel records were dropped.**",
                             "Remedy: ", "| implementation", "<details><summary>", "data lost", "</details>",
                             "Not shown here: ", "`attnscope report out/run --format html`"}) {
        const size_t at = text.find(part, last);
        ASSERT_NE(at, std::string::npos) << part << " in\n" << text;
        last = at;
    }
    EXPECT_LE(text.size(), kCommentBudget);
    EXPECT_LE(rows(text), 12U);
}

TEST(Comment, KeepsToItsBudgetAndCountsWhatItLeftOut) {
    Report report = test::sample_report();
    for (int i = 0; i < 40; ++i) report.implementations.rows.push_back(report.implementations.rows.front());
    for (int i = 0; i < 400; ++i) report.findings.push_back(report.findings.at(1));
    for (const size_t budget : {600U, 1000U, 4096U, 65536U, 10000000U}) {
        const std::string text = render_comment(report, {"x", budget});
        EXPECT_LE(text.size(), std::min<size_t>(budget, kCommentLimit));
        EXPECT_LE(rows(text), 12U);
        EXPECT_NE(text.find("Not shown here: "), std::string::npos) << budget << "\n" << text;
        size_t opened = 0, closed = 0;
        for (size_t at = 0; (at = text.find("<details>", at)) != std::string::npos; ++at) ++opened;
        for (size_t at = 0; (at = text.find("</details>", at)) != std::string::npos; ++at) ++closed;
        EXPECT_EQ(opened, closed) << "a fold that is cut swallows what follows";
    }
    EXPECT_NE(render_comment(report, {}).find("35 rows, "), std::string::npos) << render_comment(report, {});
}

TEST(Comment, InfoIsToldWhereItIsAskedFor) {
    Report report = well();
    Finding finding;
    finding.claim = "sdpa_flash launches 2 in B, 1 in A.";
    report.findings = {finding};
    EXPECT_EQ(render_comment(report, {}).find("launches 2 in B"), std::string::npos);
    EXPECT_NE(render_comment(report, {"x", kCommentBudget, Severity::info}).find("launches 2 in B"),
              std::string::npos);
}

TEST(Comment, ForeignTextDoesNothing) {
    for (const std::string text : {"<script>alert(1)</script>", "[x](javascript:1) ![i](http://e/x.png)",
                                   "</details> | a |", "@team #1", "-->\n# h"}) {
        std::string comment = render_comment(test::hostile_report(text), {text, kCommentLimit});
        // What stands in a code span is shown as it is.
        for (size_t at; (at = comment.find('`')) != std::string::npos;)
            comment.erase(at, comment.find('`', at + 1) + 1 - at);
        EXPECT_EQ(comment.find("<script"), std::string::npos) << comment;
        for (size_t at = 0; (at = comment.find("](", at)) != std::string::npos; ++at)
            EXPECT_EQ(comment[at - 1], '\\') << "no link";
        EXPECT_EQ(comment.find("@team"), std::string::npos) << comment;
        EXPECT_EQ(comment.find("-->"), comment.rfind("-->")) << "the tag ends once";
        EXPECT_EQ(comment.find("\n# h"), std::string::npos) << comment;
    }
}

TEST(Comment, AnEmptyReportIsOne) {
    const std::string text = render_comment(Report{}, {});
    EXPECT_EQ(text.rfind("<!-- attnscope:id=attnscope -->\n### attnscope: ", 0), 0U) << text;
}

}  // namespace
}  // namespace attnscope
