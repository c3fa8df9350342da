// A driver of three functions whose only kernel is loaded lazily: the first questions are answered with
// CUDA_ERROR_FUNCTION_NOT_LOADED (CUDA 13.0, cuFuncGetAttribute), and nothing is written.
#include <cuda.h>

#include <atomic>

namespace {
std::atomic<bool> loaded{false};
}

extern "C" __attribute__((visibility("default"))) void lazy_cuda_load() {
    loaded = true;
}
extern "C" __attribute__((visibility("default"))) CUresult cuFuncGetAttribute(int* value,
                                                                              CUfunction_attribute attribute,
                                                                              CUfunction) {
    if (!loaded) return CUDA_ERROR_FUNCTION_NOT_LOADED;
    if (attribute != CU_FUNC_ATTRIBUTE_NUM_REGS) return CUDA_ERROR_INVALID_VALUE;
    *value = 77;
    return CUDA_SUCCESS;
}
extern "C" __attribute__((visibility("default"))) CUresult cuKernelGetAttribute(int*, CUfunction_attribute,
                                                                                CUkernel, CUdevice) {
    return CUDA_ERROR_INVALID_HANDLE;
}
