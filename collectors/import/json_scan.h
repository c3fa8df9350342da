#pragma once
// Reads JSON as profilers write it, not only as the standard has it: bare NaN and inf, Windows paths with
// single backslashes and raw control characters in strings are taken. Nothing is copied, nothing recurses,
// and text that ends in the middle of a value is told apart from text that is wrong.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::importer {

enum class Scan : uint8_t {
    ok,
    need_more,  ///< the text ended inside the value
    malformed,
};

enum class JsonKind : uint8_t { string, literal, array, object };

/// A field of an object. `raw` is a string without its quotes (still escaped), a literal ("12.5", "NaN",
/// "true"), or the whole text of an array or object.
struct JsonField {
    std::string_view key;
    std::string_view raw;
    JsonKind kind = JsonKind::literal;
    bool nested = false;  ///< it is in the object that was flattened
};

inline bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// The text between `p` and `end`; 64 readable bytes must follow `end`.
struct JsonText {
    const char* p = nullptr;
    const char* end = nullptr;

    /// The next character that is no white space, 0 at the end; not taken.
    char peek() {
        while (p < end && is_space(*p)) ++p;
        return p < end ? *p : '\0';
    }
};

/// Takes one value of any kind.
Scan scan_value(JsonText& text, JsonField& out);

/// Takes an object at its '{'. Fields of the object under the key `flatten` come as fields of their own,
/// nested; other inner objects stay text. Fields beyond some thousands are passed over. On need_more and
/// malformed `text.p` is where it went wrong.
Scan scan_object(JsonText& text, std::vector<JsonField>& out, std::string_view flatten = {});

/// The first elements of an array's text "[...]", behind which 64 bytes are readable; what cannot be read
/// ends them.
std::vector<JsonField> array_elements(std::string_view array, size_t most);

/// Without escapes; `repaired` is set where a backslash was none. Cuts at most_bytes.
std::string unescape(std::string_view raw, bool* repaired = nullptr, size_t most_bytes = size_t{1} << 16);

/// A number, also one written as a string; nullopt for NaN, inf and everything else.
std::optional<double> json_number(const JsonField& field);
/// A whole number that is not negative; "128.0" is one.
std::optional<uint64_t> json_u64(const JsonField& field);

/// Where a next record of an array may begin: behind "}" "," "{" in text that cannot be read. Offset of that
/// '{' in `text`; npos when there is none.
size_t find_next_record(std::string_view text);

}  // namespace attnscope::importer
