#pragma once
#include <string>
#include <vector>

namespace attnscope::launch {

struct Ended {
    int exit_code = 0;  ///< 128+n when signal n ended it
    int signal = 0;     ///< 0 when it ended by itself
    /// Somebody asked for its end: SIGINT, SIGTERM, SIGHUP or SIGQUIT came to us meanwhile.
    bool interrupted = false;
};

/// Starts the program, passes signals on to it, waits for its end. It stays in our process group, so that the
/// terminal treats it as if it had been started alone. Throws Error (125) when the kernel refuses to start
/// it. `drop_output`: its standard output goes nowhere.
Ended run_program(const std::string& file, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment, bool drop_output = false);

/// What a command prints, at most 64 KiB; "" when it fails or takes longer. Its stderr is dropped.
std::string output_of(const std::vector<std::string>& command, int limit_ms);

}  // namespace attnscope::launch
