#include "symbols/primary_context.h"

#include <cuda.h>
#include <dlfcn.h>

#include "core/api.h"

namespace attnscope::vgpu {
namespace {

/// The driver's stand-in, loaded already in nearly every program: a program that uses the runtime or the
/// driver has it.
void* driver() {
    static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library;
}

template <class Function>
Function get(const char* name) {
    return driver() ? reinterpret_cast<Function>(dlsym(driver(), name)) : nullptr;
}

}  // namespace

bool ensure_context() {
    if (device_count() == 0) return false;
    static const auto init = get<CUresult (*)(unsigned)>("cuInit");
    static const auto current = get<CUresult (*)(CUcontext*)>("cuCtxGetCurrent");
    static const auto retain = get<CUresult (*)(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain");
    static const auto set = get<CUresult (*)(CUcontext)>("cuCtxSetCurrent");
    if (!init || !current || !retain || !set || init(0) != CUDA_SUCCESS) return false;
    CUcontext context = nullptr;
    if (current(&context) == CUDA_SUCCESS && context) return true;
    return retain(&context, 0) == CUDA_SUCCESS && set(context) == CUDA_SUCCESS;
}

}  // namespace attnscope::vgpu
