#pragma once
// What every exported driver function needs before it reaches the core.
#include <cuda.h>

#include <new>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/hooks.h"

#define ATTNSCOPE_VGPU_EXPORT __attribute__((visibility("default")))

namespace attnscope::vgpu {

/// CUDA_SUCCESS once cuInit has succeeded in this very process: a forked child gets
/// CUDA_ERROR_NOT_INITIALIZED.
ATTNSCOPE_VGPU_EXPORT CUresult driver_state();

/// No C++ exception may cross into a C program.
template <class Function>
CUresult guarded(Function&& function) noexcept {
    try {
        return function();
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (...) {
        return CUDA_ERROR_UNKNOWN;
    }
}

/// While one lives on this thread, stream 0 is the thread's own default stream (the _ptsz and _ptds
/// functions).
class ATTNSCOPE_VGPU_EXPORT PerThreadDefaultStream {
  public:
    PerThreadDefaultStream();
    ~PerThreadDefaultStream();

  private:
    bool outer_;
};

/// For cuGetProcAddress: every exported name with the CUDA version that brought it (0: the exact name).
struct EntryPoint {
    const char* name;
    int version;
    bool per_thread;
    void* function;
};

}  // namespace attnscope::vgpu
