#pragma once
#include <string>

namespace attnscope::launch {

/// The file that `name` stands for, as the shell would find it. Throws Error (125) when it is not there or
/// not executable.
std::string find_program(const std::string& name);

/// Refuses what a virtual GPU cannot carry: a static CUDA runtime, a CUDA runtime of another major version, a
/// PyTorch built for one. `program` is the found file. Throws Error (125).
void check_for_virtual(const std::string& program);

}  // namespace attnscope::launch
