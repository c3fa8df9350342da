#pragma once
// Runs a program, most often the built attnscope, as a user does.
#include <map>
#include <string>
#include <vector>

namespace attnscope::test {

struct Outcome {
    int exit_code = -1;  ///< 128 + n for a signal, as a shell gives it
    std::string out, err;
};

/// Runs a program in `folder` (empty: here) with the environment's variables replaced by `environment` (""
/// removes one).
Outcome run_program(const std::vector<std::string>& command,
                    const std::map<std::string, std::string>& environment = {},
                    const std::string& folder = {});
/// The same for `attnscope ARGUMENTS`.
Outcome attnscope(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment = {});

/// `attnscope ARGUMENTS` as it is typed into a shell: quotes and redirections count.
Outcome typed(const std::string& arguments, const std::map<std::string, std::string>& environment = {},
              const std::string& folder = {});

std::string binary(const std::string& name);  ///< <build>/bin/NAME

/// A new empty folder that is removed when the object goes.
class Scratch {
  public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string path(const std::string& name = {}) const { return name.empty() ? path_ : path_ + "/" + name; }

  private:
    std::string path_;
};

}  // namespace attnscope::test
