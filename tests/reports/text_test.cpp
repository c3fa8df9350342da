#include <gtest/gtest.h>

#include <sstream>

#include "attnscope/render.h"
#include "sample_report.h"
#include "unicode.h"

namespace attnscope {
namespace {

void expect_lines_within(const std::string& text, size_t width) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(reports::width_of(line), width) << line;
}

TEST(Text, NoLineIsWiderThanAsked) {
    for (const size_t width : {40U, 60U, 80U, 120U, 300U})
        for (const bool details : {false, true}) {
            expect_lines_within(render_text(test::sample_report(), {width, false, details}), width);
            expect_lines_within(render_text(test::measured_report(), {width, false, details}), width);
            expect_lines_within(
                render_text(test::hostile_report(std::string(5123, 'x')), {width, false, details}), width);
            expect_lines_within(
                render_text(test::hostile_report("日本語 `|<b>\x1b[2J"), {width, false, details}), width);
        }
}

TEST(Text, ColourOnlyWhenAskedAndNeverAlone) {
    const std::string plain = render_text(test::sample_report());
    EXPECT_EQ(plain.find('\x1b'), std::string::npos);
    EXPECT_NE(render_text(test::sample_report(), {80, true, false}).find("\x1b["), std::string::npos);
    for (const char* word : {"PREDICTED", "✕ data lost:", "▲ warning:", "✕ sdpa_cudnn", "refused"})
        EXPECT_NE(plain.find(word), std::string::npos) << word;
}

TEST(Text, AProgramsOwnEscapeSequencesDoNotReachTheTerminal) {
    const std::string text =
        render_text(test::hostile_report("\x1b]0;title\x07\x1b[2J\xC2\x9B"), {80, false, true});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos);
}

TEST(Text, AtMostThreeFindingsAndTheRestIsCounted) {
    const std::string text = render_text(test::sample_report());
    EXPECT_NE(text.find("\nP3 "), std::string::npos);
    EXPECT_EQ(text.find("\nP4 "), std::string::npos);
    EXPECT_NE(text.find("and 6 more"), std::string::npos);
    EXPECT_NE(render_text(test::sample_report(), {80, false, true}).find("\nP9 "), std::string::npos);
}

TEST(Text, RefusedStaysWithLibTorchsSentence) {
    const std::string text = render_text(test::sample_report(), {120, false, false});
    EXPECT_NE(text.find("cuDNN attention does not support this configuration"), std::string::npos);
}

TEST(Text, LeftOutColumnsAreNamed) {
    const std::string text = render_text(test::sample_report(), {60, false, false});
    EXPECT_NE(text.find("Too wide for this terminal"), std::string::npos);
    EXPECT_NE(text.find("not shown: time (not collected"), std::string::npos);
}

TEST(Text, AnEmptyReportSaysWhatItIs) {
    EXPECT_EQ(render_text(Report{}), "MEASURED\n\n");
}

}  // namespace
}  // namespace attnscope
