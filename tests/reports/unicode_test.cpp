#include "unicode.h"

#include <gtest/gtest.h>

namespace attnscope::reports {
namespace {

TEST(Unicode, CleanKeepsWhatCanBeRead) {
    EXPECT_EQ(clean("flash µs — 日本 ✓"), "flash µs — 日本 ✓");
    EXPECT_EQ(clean("a\nb\tc\r"), "a b c ");
}

TEST(Unicode, BrokenBytesAndControlsAreReplaced) {
    EXPECT_EQ(clean("a\xff"), "a\xEF\xBF\xBD");
    EXPECT_EQ(clean("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong: the classic way past a filter
    EXPECT_EQ(clean("\xE2\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // cut short
    EXPECT_EQ(clean("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
    EXPECT_EQ(clean(std::string("\x1b[31m\0", 6)), "\xEF\xBF\xBD[31m\xEF\xBF\xBD");
    EXPECT_EQ(clean("\xEF\xBF\xBE"), "\xEF\xBF\xBD");  // U+FFFE: no character in XML
}

TEST(Unicode, WhatReordersOrHidesIsNamed) {
    EXPECT_EQ(clean("a\xE2\x80\xAE"
                    "b"),
              "a⟨U+202E⟩b");
    EXPECT_EQ(clean("a\xE2\x80\x8B"
                    "b"),
              "a⟨U+200B⟩b");
}

TEST(Unicode, WidthTruncateWrap) {
    EXPECT_EQ(width_of("日本"), 4U);
    EXPECT_EQ(width_of("e\xCC\x81"), 1U);
    EXPECT_EQ(truncate("flash_fwd", 5), "flas…");
    EXPECT_EQ(truncate("日本語", 4), "日…");
    EXPECT_EQ(truncate("abc", 3), "abc");
    EXPECT_EQ(wrap("aa bb cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
    EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
    EXPECT_TRUE(wrap("", 10).empty());
    for (const std::string& line : wrap(std::string(5123, 'x') + " 日本語日本語", 7))
        EXPECT_LE(width_of(line), 7U);
}

}  // namespace
}  // namespace attnscope::reports
