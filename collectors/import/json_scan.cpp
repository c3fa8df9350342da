#include "json_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "cupti/json_line.h"

namespace attnscope::importer {
namespace {

constexpr size_t kLongestLiteral = 512, kMostFields = 8192;

/// What a character ends or begins, looked up: each byte of a trace passes here.
enum Class : uint8_t { plain = 0, space = 1, ends = 2, wrong = 4, nests = 8 };
constexpr auto kClass = [] {
    std::array<uint8_t, 256> out{};
    for (const char c : {' ', '\n', '\t', '\r'}) out[static_cast<uint8_t>(c)] = space;  // is_space
    for (const char c : {',', '}', ']'}) out[static_cast<uint8_t>(c)] = ends;
    for (const char c : {'"', '{', '[', ':', '\0'}) out[static_cast<uint8_t>(c)] = wrong;
    for (const char c : {'"', '{', '[', '}', ']'}) out[static_cast<uint8_t>(c)] |= nests;
    return out;
}();

bool is(char c, unsigned classes) {
    return (kClass[static_cast<uint8_t>(c)] & classes) != 0;
}

/// A bit at 0x80 of each byte of `word` that equals `c`.
uint64_t equal_bytes(uint64_t word, char c) {
    constexpr uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
    const uint64_t x = word ^ (ones * static_cast<unsigned char>(c));
    return (x - ones) & ~x & high;
}

/// From the opening quote; `raw` is what stands between the quotes.
[[gnu::always_inline]] inline Scan scan_string(JsonText& text, std::string_view& raw) {
    const char* const start = text.p + 1;
    const char* p = start;
    while (p < text.end) {
        uint64_t word;
        std::memcpy(&word, p, sizeof word);
        const uint64_t found = equal_bytes(word, '"') | equal_bytes(word, '\\');
        if (found == 0) {
            p += sizeof word;
            continue;
        }
        p += __builtin_ctzll(found) / 8;
        if (p >= text.end) break;
        if (*p == '\\') {
            p += 2;
            continue;
        }
        raw = {start, static_cast<size_t>(p - start)};
        text.p = p + 1;
        return Scan::ok;
    }
    return Scan::need_more;
}

[[gnu::always_inline]] inline Scan scan_literal(JsonText& text, std::string_view& raw) {
    const char* const start = text.p;
    const char* p = start;
    while (p < text.end && !is(*p, space | ends | wrong)) ++p;
    if (p < text.end && is(*p, wrong)) return Scan::malformed;
    if (static_cast<size_t>(p - start) > kLongestLiteral || p == start)
        return p == text.end && p == start ? Scan::need_more : Scan::malformed;
    if (p == text.end) return Scan::need_more;
    raw = {start, static_cast<size_t>(p - start)};
    text.p = p;
    return Scan::ok;
}

/// From '[' or '{' to what closes it, by counting: depth costs nothing.
Scan skip_nested(JsonText& text) {
    uint64_t depth = 0;
    while (true) {
        while (text.p < text.end && !is(*text.p, nests)) ++text.p;
        if (text.p == text.end) return Scan::need_more;
        const char c = *text.p;
        if (c == '"') {
            std::string_view ignored;
            if (const Scan s = scan_string(text, ignored); s != Scan::ok) return s;
            continue;
        }
        ++text.p;
        if (c == '{' || c == '[') ++depth;
        if ((c == '}' || c == ']') && --depth == 0) return Scan::ok;
    }
}

[[gnu::always_inline]] inline Scan scan_key(JsonText& text, std::string_view& key) {
    const char c = text.peek();
    if (c != '"') return text.p == text.end ? Scan::need_more : Scan::malformed;
    if (const Scan s = scan_string(text, key); s != Scan::ok) return s;
    if (text.peek() != ':') return text.p == text.end ? Scan::need_more : Scan::malformed;
    ++text.p;
    return Scan::ok;
}

/// The four digits behind "\u"; nullopt when they are none.
std::optional<uint32_t> hex4(std::string_view text) {
    uint32_t value = 0;
    if (text.size() < 4) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 4, value, 16);
    if (error != std::errc() || end != text.data() + 4) return std::nullopt;
    return value;
}

/// Takes "uXXXX" (and the second half of a surrogate pair) at `i`; false when it is no escape.
bool take_unicode(std::string_view raw, size_t& i, std::string& out) {
    const auto first = hex4(raw.substr(i + 1));
    if (!first) return false;
    i += 5;
    uint32_t c = *first;
    if (c >= 0xD800 && c < 0xDC00 && raw.substr(i, 2) == "\\u") {
        const auto second = hex4(raw.substr(i + 2));
        if (second && *second >= 0xDC00 && *second < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (*second - 0xDC00);
            i += 6;
        }
    }
    collector::append_utf8(out, c);  // half a pair becomes U+FFFD
    return true;
}

}  // namespace

namespace {

[[gnu::always_inline]] inline Scan scan_value_inline(JsonText& text, JsonField& out) {
    const char c = text.peek();
    if (text.p == text.end) return Scan::need_more;
    if (c == '"') {
        out.kind = JsonKind::string;
        return scan_string(text, out.raw);
    }
    if (c != '{' && c != '[') {
        out.kind = JsonKind::literal;
        return scan_literal(text, out.raw);
    }
    out.kind = c == '{' ? JsonKind::object : JsonKind::array;
    const char* const start = text.p;
    const Scan s = skip_nested(text);
    if (s == Scan::ok) out.raw = {start, static_cast<size_t>(text.p - start)};
    return s;
}

}  // namespace

Scan scan_value(JsonText& text, JsonField& out) {
    return scan_value_inline(text, out);
}

Scan scan_object(JsonText& text, std::vector<JsonField>& out, std::string_view flatten) {
    ++text.p;
    bool inside = false;  // the flattened object
    while (true) {
        char c = text.peek();
        if (c == ',') {
            ++text.p;
            c = text.peek();
        }
        if (c == '}') {
            ++text.p;
            if (!inside) return Scan::ok;
            inside = false;
            continue;
        }
        std::string_view key;
        if (const Scan s = scan_key(text, key); s != Scan::ok) return s;
        if (!inside && !flatten.empty() && key == flatten && text.peek() == '{') {
            ++text.p;
            inside = true;
            continue;
        }
        JsonField beyond;
        JsonField& field = out.size() < kMostFields ? out.emplace_back() : beyond;
        field.key = key;
        field.nested = inside;
        if (const Scan s = scan_value_inline(text, field); s != Scan::ok) return s;
    }
}

std::vector<JsonField> array_elements(std::string_view array, size_t most) {
    std::vector<JsonField> out;
    if (array.size() < 2 || array.front() != '[') return out;
    JsonText text{array.data() + 1, array.data() + array.size()};
    while (out.size() < most) {
        char c = text.peek();
        if (c == ',') {
            ++text.p;
            c = text.peek();
        }
        if (c == ']' || text.p == text.end) return out;
        JsonField field;
        if (scan_value(text, field) != Scan::ok) return out;
        out.push_back(field);
    }
    return out;
}

std::string unescape(std::string_view raw, bool* repaired, size_t most_bytes) {
    std::string out;
    out.reserve(std::min(raw.size(), most_bytes));
    for (size_t i = 0; i < raw.size() && out.size() < most_bytes;) {
        if (raw[i] != '\\' || i + 1 == raw.size()) {
            out.push_back(raw[i++]);
            continue;
        }
        ++i;
        constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
        if (const size_t known = from.find(raw[i]); known != std::string_view::npos) {
            out.push_back(to[known]);
            ++i;
        } else if (raw[i] != 'u' || !take_unicode(raw, i, out)) {
            out.push_back('\\');  // a Windows path, as somebody forgot to escape it
            if (repaired) *repaired = true;
        }
    }
    return out;
}

std::optional<double> json_number(const JsonField& field) {
    if (field.kind != JsonKind::literal && field.kind != JsonKind::string) return std::nullopt;
    double value = 0;
    const char* const end = field.raw.data() + field.raw.size();
    const auto read = std::from_chars(field.raw.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::optional<uint64_t> json_u64(const JsonField& field) {
    if (field.kind != JsonKind::literal && field.kind != JsonKind::string) return std::nullopt;
    uint64_t value = 0;
    const char* const end = field.raw.data() + field.raw.size();
    const auto read = std::from_chars(field.raw.data(), end, value);
    if (read.ec == std::errc() && read.ptr == end) return value;
    const auto number = json_number(field);
    if (!number || *number < 0 || *number >= 9.0e15 || *number != std::floor(*number)) return std::nullopt;
    return static_cast<uint64_t>(*number);
}

size_t find_next_record(std::string_view text) {
    for (size_t at = text.find('}'); at != std::string_view::npos; at = text.find('}', at + 1)) {
        size_t next = at + 1;
        while (next < text.size() && is_space(text[next])) ++next;
        if (next >= text.size() || text[next] != ',') continue;
        ++next;
        while (next < text.size() && is_space(text[next])) ++next;
        if (next < text.size() && text[next] == '{') return next;
    }
    return std::string_view::npos;
}

}  // namespace attnscope::importer
