// Regular expressions: what they match, where they are wrong, and that none takes longer than its size.
#include <gtest/gtest.h>
#include <regex.h>

#include <chrono>

#include "attnscope/error.h"
#include "attnscope/pattern.h"

namespace attnscope {
namespace {

bool found(std::string_view pattern, std::string_view text) {
    return Pattern(pattern).found_in(text);
}

TEST(Pattern, FindsAnywhere) {
    EXPECT_TRUE(found("flash", "void pytorch_flash::flash_fwd_kernel<...>"));
    EXPECT_FALSE(found("Flash", "flash_fwd_kernel"));
    EXPECT_TRUE(found("", "anything"));
    EXPECT_TRUE(found("", ""));
    EXPECT_TRUE(found("^flash.*kernel$", "flash_fwd_kernel"));
    EXPECT_FALSE(found("^wd", "fwd"));
    EXPECT_TRUE(found("\\bfwd", "flash fwd"));
    EXPECT_FALSE(found("\\bfwd", "flash_fwd"));
    EXPECT_TRUE(found("kernel<\\d+, \\d+>", "kernel<64, 128>"));
    EXPECT_TRUE(found("a\\.b", "a.b"));
    EXPECT_FALSE(found("a\\.b", "axb"));
}

// Against another implementation, the C library's: every expression on every text.
TEST(Pattern, AgreesWithTheCLibrary) {
    const char* patterns[] = {
        "a",      "ab",       "a|b",           "a*b", "a+b?",   "(ab)+",     "(a|b)*c",  "a{2}",
        "a{2,}b", "a{0,2}b",  "(a{1,2}){2}",   "^a",  "b$",     "^$",        "[a-c]+d",  "[^a]b",
        "a.c",    "\\w+\\s.", "(a|ab)(c|bcd)", "x*",  "(a*)*b", "(a|b){3}c", "\\bab\\b", "(|a)b"};
    const char* texts[] = {"",     "a",   "b",   "ab",  "aab", "abab", "abc", "aabbc", "acd", "abcd", "dcba",
                           "xaax", "a b", "w 7", "a-b", "-b",  "cab",  "ac",  "bbb",   "aaa", "babc"};
    for (const char* pattern : patterns) {
        regex_t other;
        ASSERT_EQ(regcomp(&other, pattern, REG_EXTENDED | REG_NOSUB), 0) << pattern;
        const Pattern own(pattern);
        for (const char* text : texts)
            EXPECT_EQ(own.found_in(text), regexec(&other, text, 0, nullptr, 0) == 0)
                << pattern << " in " << text;
        regfree(&other);
    }
    // What POSIX does not have.
    EXPECT_TRUE(found("(?:a|b){3}c", "babc"));
    EXPECT_TRUE(found("a+?b", "aab"));
    EXPECT_TRUE(found("[a\\-z]b", "-b"));
    EXPECT_FALSE(found("[a\\-z]b", "cb"));
    EXPECT_TRUE(found("a{x", "a{x"));
}

std::string error_of(std::string_view pattern) {
    try {
        Pattern compiled(pattern);
        return {};
    } catch (const Error& e) {
        return e.what();
    }
}

TEST(Pattern, SaysWhereItIsWrong) {
    const std::pair<const char*, const char*> cases[] = {
        {"flash(fwd", "(at character 6)"}, {"a)b", "(at character 2)"},
        {"x|*", "(at character 3)"},       {"ab[cd", "(at character 3)"},
        {"a\\", "(at character 2)"},       {"(a)\\1", "(at character 4)"},
        {"a\\q", "(at character 2)"},      {"[z-a]", "(at character 3)"},
        {"a{3,1}", "(at character 2)"},    {"(?=a)", "(at character 1)"},
        {"a{2000}", "(at character 2)"},   {"[]", "(at character 1)"},
        {"(a{1000}){1000}", "4000 steps"}, {"((a{100}){100}){100}", "4000 steps"},
    };
    for (const auto& [pattern, place] : cases)
        EXPECT_NE(error_of(pattern).find(place), std::string::npos) << pattern << ": " << error_of(pattern);
    EXPECT_NE(error_of(std::string(100000, '(')).find("nested deeper"), std::string::npos);
    EXPECT_NE(error_of(std::string(100000, 'a')).find("4000 steps"), std::string::npos);
    EXPECT_EQ(error_of("\x1b[").find('\x1b'), std::string::npos) << "a terminal does not act on it";
}

// Expressions that take a backtracking search longer than the age of the universe.
TEST(Pattern, NoExpressionTakesLongerThanItsSize) {
    const std::string text(1000, 'a');
    const auto begin = std::chrono::steady_clock::now();
    for (const char* pattern : {"(a*)*b", "(a|aa)+$b", "(a+)+(a+)+b", "(.*)(.*)(.*)(.*)(.*)x",
                                "(a?){500}a{500}b", "((((a*)*)*)*)*b"})
        EXPECT_FALSE(found(pattern, text)) << pattern;
    EXPECT_TRUE(found("(a?){500}a{500}", std::string(500, 'a')));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Pattern, AnyBytes) {
    uint32_t state = 7;
    const auto random = [&] { return state = state * 1664525 + 1013904223, state >> 24; };
    const std::string letters = "ab()[]{}*+?|.\\^$,-0129wd\xff";
    for (int i = 0; i < 20000; ++i) {
        std::string pattern;
        for (uint32_t n = random() % 12; n > 0; --n) pattern += letters[random() % letters.size()];
        try {
            Pattern(pattern).found_in("abba(\xff");
        } catch (const Error&) {
        }
    }
}

}  // namespace
}  // namespace attnscope
