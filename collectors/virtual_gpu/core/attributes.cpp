#include "collectors/virtual_gpu/core/attributes.h"

#include <climits>

#include "collectors/virtual_gpu/core/observer.h"

namespace attnscope::vgpu {

namespace {

struct Row {
    int attribute;
    const char* key;
};
constexpr Row rows[] = {
#include "device_attributes.inc"
};

// What this driver, not the chip, decides. It wins over the table: no device can do what the driver refuses.
bool driver_says(const VirtualDevice& device, int attribute, int& value) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            value = device.gpu.major;
            return true;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            value = device.gpu.minor;
            return true;
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
            value = device.position + 1;
            return true;
        case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:
            value = device.position;
            return true;
        case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
        case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
            value = device.gpu.major >= 9;
            return true;
        case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
        case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
        case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
        case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
        case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
        case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS:
            value = 1;
            return true;
        case CU_DEVICE_ATTRIBUTE_NUMA_ID:
        case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
            value = -1;
            return true;
        case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:
        case CU_DEVICE_ATTRIBUTE_INTEGRATED:
        case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        case CU_DEVICE_ATTRIBUTE_TCC_DRIVER:
        case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD:
        case CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
        case CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:
        case CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES:
        case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
        case CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS:
        case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING:
        case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
        case CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
        case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
        case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_NUMA_CONFIG:
        case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
        case CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK:
        case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH:
        case CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED:
        case 144:
        case 145:
        case 146:
        case 147:  // host pools, host VMM, dma-buf for host memory, partial host atomics
            value = 0;
            return true;
        default:
            return false;
    }
}

// The same for every device of compute capability 7.0 and later: CUDA C++ Programming Guide 13.0, "Compute
// Capabilities", tables "Technical Specifications per Compute Capability". Used where the table has no row.
bool guide_says(int attribute, int& value) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            value = 1024;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
            value = 1024;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
            value = 64;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
            value = INT_MAX;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
            value = 65535;
            return true;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
            value = 32;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
            value = 49152;
            return true;
        case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
            value = 65536;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
            value = 65536;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
            value = INT_MAX;
            return true;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
            value = 1;
            return true;
        case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
        case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:
            value = 512;
            return true;
        case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
            value = 32;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH:
            value = 131072;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH:
            value = 131072;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT:
            value = 65536;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH:
        case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT:
        case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH:
            value = 16384;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH:
            value = 1 << 28;
            return true;
        default:
            return false;
    }
}

// `told` false: the figure has no source.
int look_up(VirtualDevice& device, int attribute, bool& told) {
    int value = 0;
    told = true;
    if (driver_says(device, attribute, value)) return value;
    const char* key = attribute_key(attribute);
    if (const Figure* figure = key != nullptr ? device.gpu.figure(key) : nullptr) {
        told = !figure->assumed;
        return static_cast<int>(figure->value);
    }
    if (guide_says(attribute, value)) return value;
    told = false;
    return 0;
}

}  // namespace

const char* attribute_key(int attribute) {
    for (const Row& row : rows)
        if (row.attribute == attribute) return row.key;
    return nullptr;
}

int silent_attribute(VirtualDevice& device, int attribute) {
    bool told = true;
    return look_up(device, attribute, told);
}

bool device_attribute(VirtualDevice& device, int attribute, int& value) {
    const char* key = attribute_key(attribute);
    if (key == nullptr) return false;
    bool told = true;
    value = look_up(device, attribute, told);
    if (!told) report_assumed_figure(device.ordinal, key);
    return true;
}

}  // namespace attnscope::vgpu
