// Properties, attributes and limits of devices.
#include <mutex>

#include "api.h"

using namespace attnscope::vgpu::cudart;

// The runtime's attribute numbers are the driver's.
static_assert(int(cudaDevAttrMaxThreadsPerBlock) == int(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(int(cudaDevAttrMaxSharedMemoryPerBlockOptin) ==
              int(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
static_assert(int(cudaDevAttrGpuPciSubsystemId) == int(CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID));

namespace attnscope::vgpu::cudart {

namespace {

struct Field {
    CUdevice_attribute attribute;
    int cudaDeviceProp::*number;
};

// clang-format off
constexpr Field fields[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &cudaDeviceProp::regsPerBlock},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &cudaDeviceProp::warpSize},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &cudaDeviceProp::maxThreadsPerBlock},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &cudaDeviceProp::major},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &cudaDeviceProp::minor},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &cudaDeviceProp::multiProcessorCount},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, &cudaDeviceProp::integrated},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, &cudaDeviceProp::canMapHostMemory},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, &cudaDeviceProp::maxTexture1D},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, &cudaDeviceProp::maxTexture1DMipmap},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, &cudaDeviceProp::maxTextureCubemap},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, &cudaDeviceProp::maxSurface1D},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, &cudaDeviceProp::maxSurfaceCubemap},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, &cudaDeviceProp::concurrentKernels},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, &cudaDeviceProp::ECCEnabled},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &cudaDeviceProp::pciBusID},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &cudaDeviceProp::pciDeviceID},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &cudaDeviceProp::pciDomainID},
    {CU_DEVICE_ATTRIBUTE_TCC_DRIVER, &cudaDeviceProp::tccDriver},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, &cudaDeviceProp::asyncEngineCount},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, &cudaDeviceProp::unifiedAddressing},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &cudaDeviceProp::memoryBusWidth},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &cudaDeviceProp::l2CacheSize},
    {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, &cudaDeviceProp::persistingL2CacheMaxSize},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &cudaDeviceProp::maxThreadsPerMultiProcessor},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, &cudaDeviceProp::streamPrioritiesSupported},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, &cudaDeviceProp::globalL1CacheSupported},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, &cudaDeviceProp::localL1CacheSupported},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &cudaDeviceProp::regsPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, &cudaDeviceProp::managedMemory},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, &cudaDeviceProp::isMultiGpuBoard},
    {CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, &cudaDeviceProp::multiGpuBoardGroupID},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, &cudaDeviceProp::hostNativeAtomicSupported},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, &cudaDeviceProp::pageableMemoryAccess},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, &cudaDeviceProp::concurrentManagedAccess},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, &cudaDeviceProp::computePreemptionSupported},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, &cudaDeviceProp::canUseHostPointerForRegisteredMem},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &cudaDeviceProp::cooperativeLaunch},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, &cudaDeviceProp::pageableMemoryAccessUsesHostPageTables},
    {CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, &cudaDeviceProp::directManagedMemAccessFromHost},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &cudaDeviceProp::maxBlocksPerMultiProcessor},
    {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, &cudaDeviceProp::accessPolicyMaxWindowSize},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, &cudaDeviceProp::hostRegisterSupported},
    {CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED, &cudaDeviceProp::sparseCudaArraySupported},
    {CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, &cudaDeviceProp::hostRegisterReadOnlySupported},
    {CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, &cudaDeviceProp::timelineSemaphoreInteropSupported},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &cudaDeviceProp::memoryPoolsSupported},
    {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, &cudaDeviceProp::gpuDirectRDMASupported},
    {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, &cudaDeviceProp::gpuDirectRDMAWritesOrdering},
    {CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, &cudaDeviceProp::deferredMappingCudaArraySupported},
    {CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, &cudaDeviceProp::ipcEventSupported},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, &cudaDeviceProp::clusterLaunch},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, &cudaDeviceProp::unifiedFunctionPointers},
    {CU_DEVICE_ATTRIBUTE_NUMA_CONFIG, &cudaDeviceProp::deviceNumaConfig},
    {CU_DEVICE_ATTRIBUTE_NUMA_ID, &cudaDeviceProp::deviceNumaId},
    {CU_DEVICE_ATTRIBUTE_MPS_ENABLED, &cudaDeviceProp::mpsEnabled},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, &cudaDeviceProp::hostNumaId},
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED, &cudaDeviceProp::hostNumaMultinodeIpcSupported},
};
// clang-format on

/// 0 for what the driver does not know.
int attribute(int ordinal, CUdevice_attribute which) {
    int value = 0;
    return cuDeviceGetAttribute(&value, which, ordinal) == CUDA_SUCCESS ? value : 0;
}

template <size_t count>
void read(int ordinal, int (&values)[count], const CUdevice_attribute (&which)[count]) {
    for (size_t i = 0; i < count; ++i) values[i] = attribute(ordinal, which[i]);
}

size_t size_attribute(int ordinal, CUdevice_attribute which) {
    return static_cast<size_t>(attribute(ordinal, which));
}

// clang-format off
void read_textures(int ordinal, cudaDeviceProp& p) {
    read(ordinal, p.maxTexture2D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT});
    read(ordinal, p.maxTexture2DMipmap, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT});
    read(ordinal, p.maxTexture2DLinear, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH});
    read(ordinal, p.maxTexture2DGather, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT});
    read(ordinal, p.maxTexture3D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH});
    read(ordinal, p.maxTexture3DAlt, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE});
    read(ordinal, p.maxTexture1DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS});
    read(ordinal, p.maxTexture2DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS});
    read(ordinal, p.maxTextureCubemapLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS});
    read(ordinal, p.maxSurface2D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT});
    read(ordinal, p.maxSurface3D, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH});
    read(ordinal, p.maxSurface1DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS});
    read(ordinal, p.maxSurface2DLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS});
    read(ordinal, p.maxSurfaceCubemapLayered, {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS});
}
// clang-format on

cudaError_t read_properties(int ordinal, cudaDeviceProp& p) {
    p = {};
    CUuuid uuid;
    if (const CUresult result = cuDeviceGetName(p.name, sizeof p.name, ordinal)) return checked(result);
    if (const CUresult result = cuDeviceTotalMem(&p.totalGlobalMem, ordinal)) return checked(result);
    if (const CUresult result = cuDeviceGetUuid(&uuid, ordinal)) return checked(result);
    p.uuid = uuid;
    for (const Field& field : fields) p.*field.number = attribute(ordinal, field.attribute);
    p.sharedMemPerBlock = size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p.sharedMemPerBlockOptin = size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    p.sharedMemPerMultiprocessor =
        size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    p.reservedSharedMemPerBlock =
        size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    p.totalConstMem = size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    p.memPitch = size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    p.textureAlignment = size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    p.texturePitchAlignment = size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
    p.surfaceAlignment = size_attribute(ordinal, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT);
    p.gpuDirectRDMAFlushWritesOptions =
        static_cast<unsigned>(attribute(ordinal, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS));
    p.memoryPoolSupportedHandleTypes =
        static_cast<unsigned>(attribute(ordinal, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES));
    p.gpuPciDeviceID = static_cast<unsigned>(attribute(ordinal, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID));
    p.gpuPciSubsystemID = static_cast<unsigned>(attribute(ordinal, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID));
    read(ordinal, p.maxThreadsDim,
         {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
          CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z});
    read(ordinal, p.maxGridSize,
         {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
          CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z});
    read_textures(ordinal, p);
    return cudaSuccess;
}

}  // namespace

cudaError_t device_properties(int ordinal, const cudaDeviceProp** properties) {
    struct Cached {
        std::once_flag once;
        cudaError_t error = cudaSuccess;
        cudaDeviceProp properties;
    };
    static Cached* const cache = new Cached[64];
    if (const cudaError_t error = check_device(ordinal)) return error;
    Cached& cached = cache[ordinal];
    std::call_once(cached.once, [&] { cached.error = read_properties(ordinal, cached.properties); });
    *properties = &cached.properties;
    return cached.error;
}

}  // namespace attnscope::vgpu::cudart

API_WITHOUT_CONTEXT(cudaGetDeviceProperties, v12000, (cudaDeviceProp * prop, int device), (prop, device)) {
    if (prop == nullptr) return cudaErrorInvalidValue;
    const cudaDeviceProp* properties = nullptr;
    if (const cudaError_t error = device_properties(device, &properties)) return error;
    *prop = *properties;
    return cudaSuccess;
}

API_WITHOUT_CONTEXT(cudaDeviceGetAttribute, v5000, (int* value, cudaDeviceAttr attr, int device),
                    (value, attr, device)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceGetAttribute(value, enumerator<CUdevice_attribute>(attr), device));
}

API_WITHOUT_CONTEXT(cudaDeviceGetPCIBusId, v4010, (char* pciBusId, int len, int device),
                    (pciBusId, len, device)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceGetPCIBusId(pciBusId, len, device));
}

API_WITHOUT_CONTEXT(cudaDeviceGetByPCIBusId, v4010, (int* device, const char* pciBusId), (device, pciBusId)) {
    if (const cudaError_t error = initialise()) return error;
    return checked(cuDeviceGetByPCIBusId(device, pciBusId));
}

API(cudaDeviceSetLimit, v3020, (cudaLimit limit, size_t value), (limit, value)) {
    return checked(cuCtxSetLimit(enumerator<CUlimit>(limit), value));
}

API(cudaDeviceGetLimit, v3020, (size_t * pValue, cudaLimit limit), (pValue, limit)) {
    return checked(cuCtxGetLimit(pValue, enumerator<CUlimit>(limit)));
}

API(cudaDeviceGetCacheConfig, v3020, (cudaFuncCache * pCacheConfig), (pCacheConfig)) {
    return checked(cuCtxGetCacheConfig(alike<CUfunc_cache>(pCacheConfig)));
}

API(cudaDeviceSetCacheConfig, v3020, (cudaFuncCache cacheConfig), (cacheConfig)) {
    return checked(cuCtxSetCacheConfig(enumerator<CUfunc_cache>(cacheConfig)));
}

// Bank sizes are fixed at four bytes on every chip since Maxwell: the setting is accepted and has no effect
// there, too.
API(cudaDeviceGetSharedMemConfig, v4020, (cudaSharedMemConfig * pConfig), (pConfig)) {
    if (pConfig == nullptr) return cudaErrorInvalidValue;
    *pConfig = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

API(cudaDeviceSetSharedMemConfig, v4020, (cudaSharedMemConfig config), (config)) {
    return config <= cudaSharedMemBankSizeEightByte ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaDeviceGetStreamPriorityRange, v5050, (int* leastPriority, int* greatestPriority),
    (leastPriority, greatestPriority)) {
    return checked(cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

API_WITHOUT_CONTEXT(cudaDeviceCanAccessPeer, v4000, (int* canAccessPeer, int device, int peerDevice),
                    (canAccessPeer, device, peerDevice)) {
    if (const cudaError_t error = check_device(device)) return error;
    if (const cudaError_t error = check_device(peerDevice)) return error;
    return checked(cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

API(cudaDeviceEnablePeerAccess, v4000, (int peerDevice, unsigned int flags), (peerDevice, flags)) {
    CUcontext peer = nullptr;
    if (const cudaError_t error = primary_context(peerDevice, &peer)) return error;
    return checked(cuCtxEnablePeerAccess(peer, flags));
}

API(cudaDeviceDisablePeerAccess, v4000, (int peerDevice), (peerDevice)) {
    CUcontext peer = nullptr;
    if (const cudaError_t error = primary_context(peerDevice, &peer)) return error;
    return checked(cuCtxDisablePeerAccess(peer));
}

API_WITHOUT_CONTEXT(cudaDeviceGetP2PAttribute, v8000,
                    (int* value, cudaDeviceP2PAttr attr, int srcDevice, int dstDevice),
                    (value, attr, srcDevice, dstDevice)) {
    if (const cudaError_t error = check_device(srcDevice)) return error;
    if (const cudaError_t error = check_device(dstDevice)) return error;
    return checked(
        cuDeviceGetP2PAttribute(value, enumerator<CUdevice_P2PAttribute>(attr), srcDevice, dstDevice));
}

API_WITHOUT_CONTEXT(cudaDeviceFlushGPUDirectRDMAWrites, v11030,
                    (cudaFlushGPUDirectRDMAWritesTarget target, cudaFlushGPUDirectRDMAWritesScope scope),
                    (target, scope)) {
    if (const cudaError_t error = initialise()) return error;
    return checked(cuFlushGPUDirectRDMAWrites(enumerator<CUflushGPUDirectRDMAWritesTarget>(target),
                                              enumerator<CUflushGPUDirectRDMAWritesScope>(scope)));
}
