// Occupancy queries, answered by NVIDIA's own cuda_occupancy.h from the kernel's resources.
#include <cstdint>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wextra"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop

#include <algorithm>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/launch.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

cudaOccDeviceProp device_properties(const VirtualDevice& device) {
    const DeviceLimits& l = device.limits;
    cudaOccDeviceProp p;
    p.computeMajor = device.gpu.major;
    p.computeMinor = device.gpu.minor;
    p.maxThreadsPerBlock = l.threads_per_block;
    p.maxThreadsPerMultiprocessor = l.threads_per_sm;
    p.regsPerBlock = l.registers_per_block;
    p.regsPerMultiprocessor = l.registers_per_sm;
    p.warpSize = 32;
    p.sharedMemPerBlock = static_cast<size_t>(l.shared_per_block);
    p.sharedMemPerMultiprocessor = static_cast<size_t>(l.shared_per_sm);
    p.numSms = l.multiprocessors;
    p.sharedMemPerBlockOptin = static_cast<size_t>(l.shared_per_block_optin);
    p.reservedSharedMemPerBlock = static_cast<size_t>(l.shared_reserved);
    return p;
}

cudaOccFuncAttributes function_attributes(const Function& function) {
    cudaOccFuncAttributes a;
    a.maxThreadsPerBlock = static_cast<int>(function.resources.max_threads);
    a.numRegs = static_cast<int>(function.resources.registers);
    a.sharedSizeBytes = function.resources.static_shared_bytes;
    a.partitionedGCConfig = PARTITIONED_GC_OFF;
    a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    a.maxDynamicSharedSizeBytes = static_cast<size_t>(function.max_dynamic_shared.load());
    a.numBlockBarriers = 1;
    return a;
}

CUresult find(CUfunction handle, Function*& function) {
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    return find_launched(handle, *context, function);
}

bool valid_flags(unsigned flags) {
    return (flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0;
}

// CTAs in a cluster of this launch; 0 for a bad one.
unsigned cluster_of(const Function& function, const CUlaunchConfig& config) {
    for (unsigned i = 0; i < config.numAttrs && config.attrs != nullptr; i++)
        if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            const auto& d = config.attrs[i].value.clusterDim;
            return d.x * d.y * d.z;
        }
    return static_cast<unsigned>(
        std::max(1, function.cluster[0] * function.cluster[1] * function.cluster[2]));
}

}  // namespace

int resident_ctas(const Function& function, int threads, size_t dynamic_shared) {
    const cudaOccDeviceProp properties = device_properties(*function.context->device);
    const cudaOccFuncAttributes attributes = function_attributes(function);
    cudaOccDeviceState state;
    state.carveoutConfig = function.carveout;
    cudaOccResult result;
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes,
                                                                       &state, threads, dynamic_shared);
    return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -static_cast<int>(error);
}

namespace driver {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* ctas, CUfunction handle, int threads,
                                                              size_t shared, unsigned flags) {
    if (ctas == nullptr || threads <= 0 || !valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    Function* function = nullptr;
    if (CUresult error = find(handle, function); error != CUDA_SUCCESS) return error;
    const int count = resident_ctas(*function, threads, shared);
    if (count < 0) return CUDA_ERROR_INVALID_VALUE;
    *ctas = count;
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, CUfunction function, int threads,
                                                     size_t shared) {
    return driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, function, threads, shared,
                                                                        CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction handle,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned flags) {
    if (grid == nullptr || block == nullptr || limit < 0 || !valid_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    Function* function = nullptr;
    if (CUresult error = find(handle, function); error != CUDA_SUCCESS) return error;
    // The largest block of those with the most threads resident, as the driver's documentation has it.
    int most = std::min(static_cast<int>(function->resources.max_threads),
                        function->context->device->limits.threads_per_block);
    if (limit != 0) most = std::min(most, limit);
    int best_threads = 0, best_block = 0, best_ctas = 0;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
        const int tried = std::min(threads, most);
        const int ctas = resident_ctas(*function, tried, shared_of != nullptr ? shared_of(tried) : shared);
        if (ctas <= 0 || ctas * tried <= best_threads) continue;
        best_threads = ctas * tried;
        best_block = tried;
        best_ctas = ctas;
        if (best_threads == function->context->device->limits.threads_per_sm) break;
    }
    if (best_block == 0) return CUDA_ERROR_INVALID_VALUE;
    *block = best_block;
    *grid = best_ctas * function->context->device->limits.multiprocessors;
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
    return driver::cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit,
                                                             CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int ctas, int threads) {
    if (bytes == nullptr || ctas <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    Function* function = nullptr;
    if (CUresult error = find(handle, function); error != CUDA_SUCCESS) return error;
    const cudaOccDeviceProp properties = device_properties(*function->context->device);
    const cudaOccFuncAttributes attributes = function_attributes(*function);
    cudaOccDeviceState state;
    state.carveoutConfig = function->carveout;
    return cudaOccAvailableDynamicSMemPerBlock(bytes, &properties, &attributes, &state, ctas, threads) ==
                   CUDA_OCC_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

// Which SMs make a cluster (the GPCs) is not published for each device: what resident CTAs alone allow is an
// upper bound, and a diagnostic says so.
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
    if (clusters == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Function* function = nullptr;
    if (CUresult error = find(handle, function); error != CUDA_SUCCESS) return error;
    const unsigned cluster = cluster_of(*function, *config);
    if (cluster == 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    const int threads = static_cast<int>(config->blockDimX * config->blockDimY * config->blockDimZ);
    const int ctas = resident_ctas(*function, threads, config->sharedMemBytes);
    if (ctas < 0) return CUDA_ERROR_INVALID_VALUE;
    report("info", "cluster-occupancy",
           "cuOccupancyMaxActiveClusters was answered from the SMs alone; how a real device groups them "
           "lowers it",
           "measure on a real GPU where it matters");
    *clusters = ctas * function->context->device->limits.multiprocessors / static_cast<int>(cluster);
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle, const CUlaunchConfig* config) {
    if (size == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Function* function = nullptr;
    if (CUresult error = find(handle, function); error != CUDA_SUCCESS) return error;
    if (!function->context->device->limits.clusters) return CUDA_ERROR_NOT_SUPPORTED;
    *size = function->non_portable_cluster != 0 ? 16 : 8;
    return CUDA_SUCCESS;
}

}  // namespace driver
}  // namespace attnscope::vgpu
