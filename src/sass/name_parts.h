#pragma once
// Cutting demangled names into their parts. The parts point into the name.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "attnscope/names.h"

namespace attnscope::names {

using Words = std::vector<std::string_view>;

inline Words split(std::string_view text, char separator) {
    Words words;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(separator, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// "<a, b<c> >(d)" -> "a, b<c> "; empty where no bracket closes.
inline std::string_view inside(std::string_view text) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '<') ++depth;
        if (text[i] == '>' && --depth == 0) return text.substr(1, i - 1);
    }
    return {};
}

/// The template arguments of "name<...>".
inline Words arguments_of(std::string_view text) {
    const size_t open = text.find('<');
    return open == std::string_view::npos ? Words() : split_arguments(inside(text.substr(open)));
}

/// Nsight's demangler writes (int)128 and (bool)1 where others write 128 and true.
inline std::string_view without_cast(std::string_view text) {
    const size_t end = text.starts_with('(') ? text.find(')') : std::string_view::npos;
    return end == std::string_view::npos ? text : text.substr(end + 1);
}

inline std::optional<uint32_t> number(std::string_view text) {
    text = without_cast(text);
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

inline std::optional<bool> boolean(std::string_view text) {
    text = without_cast(text);
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
}

}  // namespace attnscope::names
