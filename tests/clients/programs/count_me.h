#pragma once
// One kernel without nvcc: what its start-up code would register with the CUDA runtime, done by hand.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFunction(void** handle, const char* host, char* name, const char* device_name, int limit,
                            uint3* thread, uint3* block, dim3* block_size, dim3* grid, int* warp_size);
void __cudaRegisterFatBinaryEnd(void** handle);
}

namespace attnscope::test {

alignas(8) inline const uint32_t kCountMeFatbin[] = {
#include "tests/collector/programs/count_me.fatbin.inc"
};

/// fatbinary_section.h
struct FatbinWrapper {
    int magic, version;
    const void* data;
    void* unused;
};
inline const FatbinWrapper kCountMeWrapper = {0x466243b1, 1, kCountMeFatbin, nullptr};

/// Its address stands for `__global__ void count_me(int* out, int value)`.
inline void count_me() {}

inline void register_count_me() {
    void** handle = __cudaRegisterFatBinary(const_cast<FatbinWrapper*>(&kCountMeWrapper));
    static char name[] = "_Z8count_mePii";  // the runtime keeps the pointer
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&count_me), name, name, -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle);
}

inline void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(90);
}

inline void launch_count_me(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, int* out) {
    int value = 1;
    void* arguments[] = {&out, &value};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(&count_me), grid, block, arguments, shared, stream),
          "cudaLaunchKernel");
}

}  // namespace attnscope::test
