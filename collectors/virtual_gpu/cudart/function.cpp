// What is known of a kernel on the current device, and its occupancy: answered by the driver from the cubin.
#include "registry.h"

using namespace attnscope::vgpu::cudart;

static_assert(int(cudaFuncAttributeMaxDynamicSharedMemorySize) ==
              int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
static_assert(int(cudaFuncAttributeClusterSchedulingPolicyPreference) ==
              int(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE));

namespace attnscope::vgpu::cudart {
cudaError_t driver_launch_config(const cudaLaunchConfig_t& config, CUlaunchConfig* driver);
}

static CUresult attribute(const Function& function, CUfunction_attribute which, int* value) {
    return function.kernel ? cuKernelGetAttribute(value, which, function.kernel, current_device())
                           : cuFuncGetAttribute(value, which, function.function);
}

API(cudaFuncGetAttributes, v3020, (cudaFuncAttributes * attr, const void* func), (attr, func)) {
    if (attr == nullptr) return cudaErrorInvalidValue;
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    int values[CU_FUNC_ATTRIBUTE_MAX] = {};
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; ++i) {
        if (const CUresult result = attribute(function, static_cast<CUfunction_attribute>(i), &values[i]))
            return checked(result);
    }
    *attr = {};
    attr->maxThreadsPerBlock = values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    attr->sharedSizeBytes = static_cast<size_t>(values[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES]);
    attr->constSizeBytes = static_cast<size_t>(values[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES]);
    attr->localSizeBytes = static_cast<size_t>(values[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES]);
    attr->numRegs = values[CU_FUNC_ATTRIBUTE_NUM_REGS];
    attr->ptxVersion = values[CU_FUNC_ATTRIBUTE_PTX_VERSION];
    attr->binaryVersion = values[CU_FUNC_ATTRIBUTE_BINARY_VERSION];
    attr->cacheModeCA = values[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA];
    attr->maxDynamicSharedSizeBytes = values[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    attr->preferredShmemCarveout = values[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    attr->clusterDimMustBeSet = values[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET];
    attr->requiredClusterWidth = values[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    attr->requiredClusterHeight = values[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT];
    attr->requiredClusterDepth = values[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH];
    attr->nonPortableClusterSizeAllowed = values[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
    attr->clusterSchedulingPolicyPreference = values[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE];
    return cudaSuccess;
}

API(cudaFuncSetAttribute, v9000, (const void* func, cudaFuncAttribute attr, int value), (func, attr, value)) {
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    const auto which = enumerator<CUfunction_attribute>(attr);
    return checked(function.kernel ? cuKernelSetAttribute(which, value, function.kernel, current_device())
                                   : cuFuncSetAttribute(function.function, which, value));
}

API(cudaKernelSetAttributeForDevice, v12060,
    (cudaKernel_t kernel, cudaFuncAttribute attr, int value, int device), (kernel, attr, value, device)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuKernelSetAttribute(enumerator<CUfunction_attribute>(attr), value, kernel, device));
}

API(cudaFuncSetCacheConfig, v3020, (const void* func, cudaFuncCache cacheConfig), (func, cacheConfig)) {
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    const auto config = enumerator<CUfunc_cache>(cacheConfig);
    return checked(function.kernel ? cuKernelSetCacheConfig(function.kernel, config, current_device())
                                   : cuFuncSetCacheConfig(function.function, config));
}

// Without effect on any chip since Maxwell, as in the real runtime.
API(cudaFuncSetSharedMemConfig, v4020, (const void* func, cudaSharedMemConfig config), (func, config)) {
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    return config <= cudaSharedMemBankSizeEightByte ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaFuncGetName, v12030, (const char** name, const void* func), (name, func)) {
    if (name == nullptr) return cudaErrorInvalidValue;
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    *name = function.name;
    return cudaSuccess;
}

API(cudaFuncGetParamInfo, v12040,
    (const void* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize),
    (func, paramIndex, paramOffset, paramSize)) {
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    return checked(function.kernel
                       ? cuKernelGetParamInfo(function.kernel, paramIndex, paramOffset, paramSize)
                       : cuFuncGetParamInfo(function.function, paramIndex, paramOffset, paramSize));
}

API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, v6050,
    (int* numBlocks, const void* func, int blockSize, size_t dynamicSMemSize),
    (numBlocks, func, blockSize, dynamicSMemSize)) {
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    return checked(cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, function.function, blockSize,
                                                               dynamicSMemSize));
}

API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, v7000,
    (int* numBlocks, const void* func, int blockSize, size_t dynamicSMemSize, unsigned int flags),
    (numBlocks, func, blockSize, dynamicSMemSize, flags)) {
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    return checked(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, function.function,
                                                                        blockSize, dynamicSMemSize, flags));
}

API(cudaOccupancyAvailableDynamicSMemPerBlock, v10200,
    (size_t * dynamicSmemSize, const void* func, int numBlocks, int blockSize),
    (dynamicSmemSize, func, numBlocks, blockSize)) {
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    return checked(
        cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, function.function, numBlocks, blockSize));
}

API(cudaOccupancyMaxPotentialClusterSize, v11070,
    (int* clusterSize, const void* func, const cudaLaunchConfig_t* launchConfig),
    (clusterSize, func, launchConfig)) {
    if (launchConfig == nullptr) return cudaErrorInvalidValue;
    Function function;
    CUlaunchConfig config;
    if (const cudaError_t error = find_function(func, &function)) return error;
    if (const cudaError_t error = driver_launch_config(*launchConfig, &config)) return error;
    return checked(cuOccupancyMaxPotentialClusterSize(clusterSize, function.function, &config));
}

API(cudaOccupancyMaxActiveClusters, v11070,
    (int* numClusters, const void* func, const cudaLaunchConfig_t* launchConfig),
    (numClusters, func, launchConfig)) {
    if (launchConfig == nullptr) return cudaErrorInvalidValue;
    Function function;
    CUlaunchConfig config;
    if (const cudaError_t error = find_function(func, &function)) return error;
    if (const cudaError_t error = driver_launch_config(*launchConfig, &config)) return error;
    return checked(cuOccupancyMaxActiveClusters(numClusters, function.function, &config));
}
