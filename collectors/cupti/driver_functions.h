#pragma once
// The driver's functions that a counters collection calls itself, in the libcuda that is in the process.
#include <cuda.h>

#include "loaded.h"

namespace attnscope::collector {

struct DriverFunctions {
    decltype(&::cuDeviceGet) device_get = nullptr;
    decltype(&::cuCtxGetCurrent) context_get_current = nullptr;
    CUresult (*context_push)(CUcontext) = nullptr;
    CUresult (*context_pop)(CUcontext*) = nullptr;
    CUresult (*stream_is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;
    CUresult (*stream_get_context)(CUstream, CUcontext*) = nullptr;
};

/// Looked up at the first use, which must come after cuInit. A function that is not there is nullptr.
inline const DriverFunctions& driver_functions() {
    static const DriverFunctions functions = [] {
        DriverFunctions f;
        constexpr const char* cuda = "libcuda.so.1";
        f.device_get = find_function<CUresult(CUdevice*, int)>(cuda, "cuDeviceGet");
        f.context_get_current = find_function<CUresult(CUcontext*)>(cuda, "cuCtxGetCurrent");
        f.context_push = find_function<CUresult(CUcontext)>(cuda, "cuCtxPushCurrent_v2");
        f.context_pop = find_function<CUresult(CUcontext*)>(cuda, "cuCtxPopCurrent_v2");
        f.stream_is_capturing =
            find_function<CUresult(CUstream, CUstreamCaptureStatus*)>(cuda, "cuStreamIsCapturing");
        f.stream_get_context = find_function<CUresult(CUstream, CUcontext*)>(cuda, "cuStreamGetCtx");
        return f;
    }();
    return functions;
}

/// Makes a context current for the length of a scope, where it is not already.
class CurrentContext {
  public:
    CurrentContext(CUcontext wanted, CUcontext current) {
        const DriverFunctions& f = driver_functions();
        pushed_ = wanted != current && f.context_push != nullptr && f.context_pop != nullptr &&
                  f.context_push(wanted) == CUDA_SUCCESS;
    }
    ~CurrentContext() {
        CUcontext popped = nullptr;
        if (pushed_) driver_functions().context_pop(&popped);
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

  private:
    bool pushed_ = false;
};

}  // namespace attnscope::collector
