#pragma once
// The real NVRTC, where there is one. It compiles without a GPU, and what it compiles has known registers and
// shared memory, so that it is always preferred.
#include <string>

namespace attnscope::vgpu::nvrtc {

/// The address of a function of the real library; nullptr where there is no real library. Searched once, in
/// this order: ATTNSCOPE_NVRTC (a path; "none": use no real library), LibTorch's sibling nvidia/ folders,
/// LD_LIBRARY_PATH, CUDA_HOME and CUDA_PATH, attnscope's cache, /usr/local/cuda, the system's folders.
void* real_function(const char* name);

/// PyTorch keeps what NVRTC made in a cache on disk (~/.cache/torch/kernels), for later processes, real GPUs
/// included. What the stand-in makes without the real library must not get there: the cache is switched off
/// in this process.
void keep_out_of_kernel_cache();

/// Where the real library was found; empty when it was not.
const std::string& real_path();

}  // namespace attnscope::vgpu::nvrtc
