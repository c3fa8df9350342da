#include "unicode.h"

#include <array>
#include <cstdio>

namespace attnscope::reports {
namespace {

constexpr char32_t replacement = 0xFFFD;

/// Characters that change the order of what follows, or cannot be seen.
bool is_deceptive(char32_t c) {
    return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
           c == 0x061C || c == 0x180E || c == 0xFEFF || c == 0x00AD || (c >= 0xFFF9 && c <= 0xFFFB) ||
           (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_control(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF);
}

size_t columns_of(char32_t c) {
    if ((c >= 0x0300 && c <= 0x036F) || (c >= 0x20D0 && c <= 0x20FF) || (c >= 0xFE00 && c <= 0xFE0F))
        return 0;
    const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                      (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                      (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                      (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
    return wide ? 2 : 1;
}

}  // namespace

bool is_unsafe(char32_t c) {
    return is_control(c) || is_deceptive(c);
}

char32_t next_code_point(std::string_view text, size_t& at) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(at++);
    if (lead < 0x80) return lead;
    const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || at + more > text.size()) return replacement;
    char32_t code = lead & (0x3F >> more);
    for (size_t i = 0; i < more; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80) return replacement;
        code = (code << 6) | (byte(at + i) & 0x3F);
    }
    static constexpr std::array<char32_t, 4> least{0, 0x80, 0x800, 0x10000};
    if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return replacement;
    at += more;
    return code;
}

void append_utf8(std::string& out, char32_t c) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | (c >> 6));
        tail(0);
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | (c >> 12));
        tail(6), tail(0);
    } else {
        out += static_cast<char>(0xF0 | (c >> 18));
        tail(12), tail(6), tail(0);
    }
}

std::string clean(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        const char32_t c = next_code_point(text, at);
        if (c == '\n' || c == '\r' || c == '\t') {
            out += ' ';
        } else if (is_control(c)) {
            append_utf8(out, replacement);
        } else if (is_deceptive(c)) {
            std::array<char, 24> shown;
            std::snprintf(shown.data(), shown.size(), "⟨U+%04X⟩", static_cast<unsigned>(c));
            out += shown.data();
        } else {
            append_utf8(out, c);
        }
    }
    return out;
}

std::vector<std::string> split_at_backticks(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == '`')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    const auto blank = [](const std::string& part) {
        return part.find_first_not_of(' ') == std::string::npos;
    };
    bool pairs = parts.size() % 2 == 1;
    for (size_t i = 1; i < parts.size(); i += 2) pairs = pairs && !blank(parts[i]);
    return pairs ? parts : std::vector<std::string>{text};
}

size_t width_of(std::string_view text) {
    size_t width = 0;
    for (size_t at = 0; at < text.size();) width += columns_of(next_code_point(text, at));
    return width;
}

std::string truncate(std::string_view text, size_t width) {
    if (width_of(text) <= width) return std::string(text);
    if (width == 0) return {};
    size_t used = 0, end = 0;
    for (size_t at = 0; at < text.size(); end = at) {
        used += columns_of(next_code_point(text, at));
        if (used > width - 1) break;
    }
    return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
    std::vector<std::string> lines;
    std::string line;
    size_t used = 0;
    const auto flush = [&] {
        if (!line.empty()) lines.push_back(std::move(line));
        line.clear();
        used = 0;
    };
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find(' ', at);
        if (end == std::string_view::npos) end = text.size();
        std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        size_t columns = width_of(word);
        if (used > 0 && used + 1 + columns > width) flush();
        while (columns > width) {  // a word that no line holds
            size_t cut = 0, taken = 0;
            for (size_t next = 0; next < word.size(); cut = next) {
                const size_t more = columns_of(next_code_point(word, next));
                if (taken + more > width) break;
                taken += more;
            }
            if (cut == 0) break;
            lines.emplace_back(word.substr(0, cut));
            word.remove_prefix(cut);
            columns -= taken;
        }
        if (used > 0) line += ' ', ++used;
        line += word;
        used += columns;
    }
    flush();
    return lines;
}

}  // namespace attnscope::reports
