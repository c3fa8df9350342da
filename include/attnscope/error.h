#pragma once
// The one error type outside the collectors. Thrown where a user can mend the cause, caught in main().
#include <stdexcept>
#include <string>

namespace attnscope {

/// Process exit codes (DESIGN.md, law 8).
enum class Exit : int {
    success = 0,
    regression = 1,     ///< a gate found one
    bad_input = 2,      ///< usage, a file that is not ours, an unknown device
    cannot_judge = 3,   ///< incomparable, empty, data loss
    not_started = 125,  ///< `collect` and `attention`: the program could not be started
    internal = 70,      ///< our own fault
};

/// `what()` is one sentence that names the file or argument, the place in it, and the remedy.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& sentence, Exit exit = Exit::bad_input)
        : std::runtime_error(sentence), exit_(exit) {}
    Exit exit() const noexcept { return exit_; }

  private:
    Exit exit_;
};

}  // namespace attnscope
