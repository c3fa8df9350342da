#pragma once
#include <cstdio>
#include <string>

namespace attnscope::launch {

/// stderr, so that the program's own output stays what it is.
inline void say(const std::string& line) {
    std::fprintf(stderr, "attnscope: %s\n", line.c_str());
}

}  // namespace attnscope::launch
