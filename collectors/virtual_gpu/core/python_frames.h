#pragma once
#include <string>

namespace attnscope::vgpu {

/// The calling thread's Python frames, innermost first, a line each:  File "train.py", line 12 in step
/// By the public C API, which needs the GIL; empty for a thread without a Python state and while Python is
/// shutting down.
std::string python_frames();

}  // namespace attnscope::vgpu
