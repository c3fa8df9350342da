#pragma once
// A program where there is no NVRTC: it is not compiled. Its kernels are found by reading the source, and its
// image is a text that the driver's stand-in loads as a module whose kernels can be launched and whose
// resources are absent.
#include <map>
#include <string>
#include <vector>

namespace attnscope::vgpu::nvrtc {

struct Program {
    std::string source, name;
    std::vector<std::string> expressions;
    std::map<std::string, std::string> lowered;
    std::string image;  ///< "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel NAME\n..."
    bool compiled = false;
};

/// The names of the functions that the source declares __global__, in order, each once. Comments are not
/// looked into.
std::vector<std::string> kernels_in(const std::string& source);

/// Fills `lowered` and `image`. A name expression is lowered to itself, without spaces: nothing was compiled,
/// so that there is no mangled name, and the driver's stand-in finds the kernel under what is told here.
void compile(Program& program);

}  // namespace attnscope::vgpu::nvrtc
