#pragma once
// Runs the built attnscope as a user does, and reads what it left.
#include <map>
#include <string>
#include <vector>

#include "attnscope/analysis.h"
#include "attnscope/run.h"

namespace attnscope::test {

struct Outcome {
    int exit_code = -1;  ///< 128 + n for a signal, as a shell gives it
    std::string out, err;
};

/// Runs a program with the environment's variables replaced by `environment` ("" removes one).
Outcome run_program(const std::vector<std::string>& command,
                    const std::map<std::string, std::string>& environment = {});
/// The same for `attnscope ARGUMENTS`.
Outcome attnscope(const std::vector<std::string>& arguments,
                  const std::map<std::string, std::string>& environment = {});

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

/// `attnscope attention --device DEVICE ARGUMENTS`, loaded. The caller asserts on `outcome` first.
struct AttentionRun {
    Outcome outcome;
    Run run;
    Analysis analysis;
};
AttentionRun attention(const std::string& device, const std::vector<std::string>& arguments);

std::string binary(const std::string& name);  ///< <build>/bin/NAME
std::string python();                         ///< one that imports torch; empty when there is none

/// The counted iterations' kernels of one implementation, in the order of issue, with their mangled names.
struct KernelLaunch {
    std::string name;
    Launch launch;
};
std::vector<KernelLaunch> kernels_of(const Run& run, const std::string& implementation);

}  // namespace attnscope::test
