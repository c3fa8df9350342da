#pragma once
// How a child answers: a line each, "key value".
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace attnscope::doctor {

inline void say(int out, std::string_view key, std::string_view value) {
    std::string line = std::string(key) + ' ' + std::string(value);
    for (char& c : line)
        if (c == '\n') c = ' ';
    line += '\n';
    if (write(out, line.data(), line.size()) < 0) _exit(1);
}

inline void say(int out, std::string_view key, long long value) {
    say(out, key, std::to_string(value));
}

template <class Take>  // Take(key, value)
void each_line(const std::string& text, Take take) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        if (end == std::string::npos) return;  // a cut line says nothing
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        const size_t space = std::min(line.find(' '), line.size());
        take(line.substr(0, space), space < line.size() ? line.substr(space + 1) : std::string());
    }
}

}  // namespace attnscope::doctor
