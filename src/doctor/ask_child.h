#pragma once
#include <functional>
#include <string>

namespace attnscope::doctor {

struct Answer {
    std::string text;        ///< what the child wrote, at most 64 KiB
    bool timed_out = false;  ///< then `text` is what came before
    int signal = 0;          ///< that ended the child; 0: none did
};

/// Runs `ask` in a child process with no output of its own and no injection library, for at most `limit_ms`
/// in all. A child that not even SIGKILL ends (it waits inside a driver) is left behind, not waited for.
Answer ask_child(const std::function<void(int out)>& ask, int limit_ms);

}  // namespace attnscope::doctor
