#pragma once
// Where in the program the calling thread is.
#include <string>

namespace attnscope::vgpu {

/// "train.py:12 in step" when a Python is in the process and this thread runs it, else the nearest C++
/// function outside CUDA's and LibTorch's libraries ("step(Batch&)", "program+0x1234"); empty when neither
/// can be had.
std::string program_location();
/// The Python part alone.
std::string python_location();

}  // namespace attnscope::vgpu
