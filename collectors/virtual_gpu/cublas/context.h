#pragma once
// What is behind a cublasHandle_t and a cublasLtHandle_t. The documentation lets a cuBLAS handle be used as a
// cuBLASLt one, and LibTorch does, so that both libraries read the same beginning.
#include <cstddef>
#include <cstdint>

#include "cublas/types.h"

namespace attnscope::vgpu::cublas {

struct Context {
    static constexpr uint64_t alive = 0x61747473636f7065;
    uint64_t magic = alive;
    int device = 0;
    void* stream = nullptr;  ///< CUstream
    void* workspace = nullptr;
    size_t workspace_bytes = 0;
    PointerMode pointer_mode = PointerMode::host;
    int atomics = 0;
    int math_mode = default_math;
    int sm_count_target = 0;
    int emulation_strategy = 0;
    int emulation_special_values = -1;
    int mantissa_control = 0, mantissa_max_bits = 0, mantissa_bit_offset = 0;
    int* mantissa_bit_count = nullptr;
};

/// NULL and destroyed handles are not usable: the function then answers CUBLAS_STATUS_NOT_INITIALIZED.
inline bool usable(const Context* context) {
    return context && context->magic == Context::alive;
}

/// A new context on the calling thread's device. CUBLAS_STATUS_NOT_INITIALIZED without a device,
/// CUBLAS_STATUS_ARCH_MISMATCH below compute capability 7.5, the oldest that the libraries of CUDA 13 hold
/// kernels for.
Status create_context(Context** context);
void destroy_context(Context* context);

}  // namespace attnscope::vgpu::cublas
