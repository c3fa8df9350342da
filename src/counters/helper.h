#pragma once
// The helper program, run and read.
#include <string>
#include <vector>

namespace attnscope::counters {

struct HelperAnswer {
    std::string output;  ///< its stdout
    int exit_code = 0;   ///< 128+n when signal n ended it
    bool timed_out = false;
    bool too_long = false;  ///< it wrote more than the cap, and was ended
};

/// Runs the command with `input` as its stdin; its stderr is dropped. In a process group of its own: Ctrl-C
/// is meant for the program under the launcher. Throws Error when it cannot be started.
HelperAnswer run_helper(const std::vector<std::string>& command, const std::string& input, int limit_ms);

}  // namespace attnscope::counters
