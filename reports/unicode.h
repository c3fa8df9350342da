#pragma once
// Text that came from a program, made safe to show: valid UTF-8, no control characters, nothing that reorders
// or hides.
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::reports {

/// Decodes one code point at `at` and moves past it; U+FFFD for a byte that is not UTF-8.
char32_t next_code_point(std::string_view text, size_t& at);
void append_utf8(std::string& out, char32_t code_point);

/// Not for the eye: control characters, non-characters, and what reorders or hides text.
bool is_unsafe(char32_t code_point);

/// One line of valid UTF-8: line ends and tabs become spaces, control characters and broken bytes U+FFFD, and
/// the characters that reorder or hide text (bidirectional overrides, zero-width ones) their number:
/// "⟨U+202E⟩".
std::string clean(std::string_view text);

/// Our sentences quote names in backticks; every second part is such a name. One part where they do not pair.
std::vector<std::string> split_at_backticks(const std::string& text);

/// Columns on a terminal of cleaned text.
size_t width_of(std::string_view text);

/// At most `width` columns, the last one "…" when something was cut.
std::string truncate(std::string_view text, size_t width);

/// Lines of at most `width` columns, broken at spaces, words that are longer anywhere.
std::vector<std::string> wrap(std::string_view text, size_t width);

}  // namespace attnscope::reports
