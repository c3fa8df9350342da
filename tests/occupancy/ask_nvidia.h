#pragma once
// NVIDIA's own occupancy calculation (cuda_occupancy.h of the CUDA toolkit).
#include <cuda_occupancy.h>

#include "attnscope/occupancy.h"

namespace attnscope::test {

inline cudaOccResult ask_nvidia(const SmLimits& sm, const KernelShape& kernel, cudaOccError& error) {
    cudaOccDeviceProp device;
    device.computeMajor = sm.major;
    device.computeMinor = sm.minor;
    device.maxThreadsPerBlock = static_cast<int>(sm.max_threads_per_cta);
    device.maxThreadsPerMultiprocessor = static_cast<int>(sm.max_threads);
    device.regsPerBlock = static_cast<int>(sm.registers_per_cta);
    device.regsPerMultiprocessor = static_cast<int>(sm.registers);
    device.warpSize = static_cast<int>(sm.warp_size);
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = sm.shared_bytes;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = sm.shared_bytes_per_cta_optin;
    device.reservedSharedMemPerBlock = sm.shared_bytes_reserved_per_cta;
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = static_cast<int>(sm.max_threads_per_cta);
    function.numRegs = static_cast<int>(kernel.registers);
    function.sharedSizeBytes = kernel.static_shared_bytes;
    function.partitionedGCConfig = PARTITIONED_GC_OFF;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes =
        kernel.dynamic_shared_bytes;  // as a program that opted in has set it
    cudaOccDeviceState state;
    cudaOccResult result{};
    error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &device, &function, &state, static_cast<int>(kernel.threads), kernel.dynamic_shared_bytes);
    return result;
}

}  // namespace attnscope::test
