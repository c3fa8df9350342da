// Right values: RFC 8259 and the Unicode standard, chapter 3 (maximal subparts), through nlohmann-json as an
// independent reader.
#include "json_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace attnscope::collector {
namespace {

std::string quoted(std::string_view bytes) {
    std::string out;
    append_json_string(out, bytes);
    return out;
}

std::string round_trip(std::string_view bytes) {
    return nlohmann::json::parse(quoted(bytes)).get<std::string>();
}

TEST(JsonString, KeepsWhatIsText) {
    for (const std::string text : {"", "plain", "a\"b\\c/", "tab\tline\nreturn\r", "\x01\x1f\x7f",
                                   "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"})
        EXPECT_EQ(round_trip(text), text);
    EXPECT_EQ(round_trip(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(JsonString, ReplacesWhatIsNotUtf8) {
    const std::string r = "\xEF\xBF\xBD";
    EXPECT_EQ(round_trip("\xFF"), r);
    EXPECT_EQ(round_trip("a\x80z"), "a" + r + "z");
    EXPECT_EQ(round_trip("\xC0\xAF"), r + r);                  // overlong
    EXPECT_EQ(round_trip("\xE0\x80\xAF"), r + r + r);          // overlong
    EXPECT_EQ(round_trip("\xED\xA0\x80"), r + r + r);          // surrogate
    EXPECT_EQ(round_trip("\xF4\x90\x80\x80"), r + r + r + r);  // beyond U+10FFFF
    EXPECT_EQ(round_trip("\xE2\x82"), r);  // cut off: one replacement for the maximal subpart
    EXPECT_EQ(round_trip("\xF0\x9F\x98 x"), r + " x");
}

TEST(JsonString, AnyBytesGiveValidJson) {
    std::mt19937 random(2026);
    for (int i = 0; i < 20000; ++i) {
        std::string bytes(random() % 40, '\0');
        for (char& c : bytes) c = static_cast<char>(random());
        ASSERT_NO_THROW(round_trip(bytes)) << quoted(bytes);
        // Independent check of the same bytes: nlohmann's own writer replaces ill-formed parts as well.
        const std::string theirs =
            nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        if (theirs.find("\xEF\xBF\xBD") == std::string::npos) {
            EXPECT_EQ(round_trip(bytes), bytes);
        }
    }
}

TEST(WideText, BecomesUtf8) {
    EXPECT_EQ(to_utf8(L"a\u00e4\u20ac\U0001F600"), "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
    const wchar_t bad[] = {static_cast<wchar_t>(0xD800), static_cast<wchar_t>(0x110000), L'x', 0};
    EXPECT_EQ(to_utf8(bad), "\xEF\xBF\xBD\xEF\xBF\xBDx");
}

TEST(JsonLine, WritesOneFlatObject) {
    std::string out;
    JsonLine(out, "mark")
        .text("name", "x\"y")
        .number("big", UINT64_MAX)
        .number("negative", -3)
        .boolean("yes", true)
        .known("absent", "")
        .texts("list", {"a", "b"})
        .end();
    EXPECT_EQ(
        nlohmann::json::parse(out),
        nlohmann::json::parse(
            R"({"type":"mark","name":"x\"y","big":18446744073709551615,"negative":-3,"yes":true,"list":["a","b"]})"));
    EXPECT_EQ(out.back(), '\n');
}

}  // namespace
}  // namespace attnscope::collector
