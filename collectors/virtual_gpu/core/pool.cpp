#include "collectors/virtual_gpu/core/pool.h"

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/graph_memory.h"
#include "collectors/virtual_gpu/core/memory.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

Pool* make_pool(VirtualDevice& device, bool is_default) {
    auto* pool = new Pool();
    pool->device = &device;
    pool->is_default = is_default;
    pool->handle = static_cast<CUmemoryPool>(handles<Pool>().add(pool));
    return pool;
}

CUresult find_pool(CUmemoryPool handle, Pool*& pool) {
    pool = handles<Pool>().get(handle);
    return pool != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

Pool& current_pool(VirtualDevice& device) {
    Pool& standard = default_pool(device);
    std::lock_guard lock(device.mutex);
    return device.current_pool != nullptr ? *device.current_pool : standard;
}

CUresult allocate(CUdeviceptr* out, size_t bytes, Pool* pool, CUstream handle) {
    if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (pool == nullptr) pool = &current_pool(*stream->context->device);
    if (stream->capture.load(std::memory_order_acquire) != nullptr) {
        AllocationNode node;
        if (CUresult error = make_graph_memory(*pool, *stream->context, bytes, node.memory);
            error != CUDA_SUCCESS)
            return error;
        *out = node.memory->pointer;
        node.parameters.bytesize = bytes;
        node.parameters.dptr = *out;
        node.parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        node.parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE,
                                              {stream->context->device->ordinal}};
        return add_captured(*stream, std::move(node));
    }
    if (CUresult error = refuse_implicit_capture(*stream); error != CUDA_SUCCESS) return error;
    return allocate_from_pool(*pool, *stream->context, bytes, *out);
}

}  // namespace

Pool& default_pool(VirtualDevice& device) {
    std::lock_guard lock(device.mutex);
    if (device.default_pool == nullptr) device.default_pool = make_pool(device, true);
    return *device.default_pool;
}

CUresult allocate_from_pool(Pool& pool, Context& context, size_t bytes, CUdeviceptr& pointer) {
    if (context.device != pool.device) return CUDA_ERROR_NOT_SUPPORTED;
    const Allocation* memory = allocate_device(context, bytes, &pool);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    pointer = memory->base;
    const size_t now = pool.used.fetch_add(bytes) + bytes;
    size_t high = pool.used_high;
    while (high < now && !pool.used_high.compare_exchange_weak(high, now)) {
    }
    return CUDA_SUCCESS;
}

bool free_to_pool(CUdeviceptr pointer) {
    const Allocation* memory = live_allocation(pointer);
    if (memory == nullptr || memory->base != pointer || memory->kind != MemoryKind::device) return false;
    Pool* pool = memory->pool;
    const size_t bytes = memory->bytes;
    if (!free_allocation(pointer, MemoryKind::device)) return false;
    if (pool != nullptr) pool->used.fetch_sub(bytes);
    return true;
}

namespace driver {

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
    return allocate(out, bytes, nullptr, stream);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool handle, CUstream stream) {
    Pool* pool = nullptr;
    if (CUresult error = find_pool(handle, pool); error != CUDA_SUCCESS) return error;
    return allocate(out, bytes, pool, stream);
}
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (pointer == 0) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture.load(std::memory_order_acquire) != nullptr)
        return add_captured(*stream, FreeNode{pointer});
    if (CUresult error = refuse_implicit_capture(*stream); error != CUDA_SUCCESS) return error;
    const GraphFree graphs = free_graph_memory(pointer);
    const bool freed = graphs == GraphFree::not_a_graphs ? free_to_pool(pointer) : graphs == GraphFree::freed;
    return freed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice ordinal) {
    VirtualDevice* device = device_or_null(ordinal);
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *out = default_pool(*device).handle;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice ordinal) {
    VirtualDevice* device = device_or_null(ordinal);
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *out = current_pool(*device).handle;
    return CUDA_SUCCESS;
}
CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    Pool* pool = nullptr;
    if (CUresult error = find_pool(handle, pool); error != CUDA_SUCCESS) return error;
    if (pool->device != device) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(device->mutex);
    device->current_pool = pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* properties) {
    if (out == nullptr || properties == nullptr || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        report_unsupported("CUDA driver", "cuMemPoolCreate in host memory");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    VirtualDevice* device = device_or_null(properties->location.id);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *out = make_pool(*device, false)->handle;
    return CUDA_SUCCESS;
}
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    Pool* pool = nullptr;
    if (CUresult error = find_pool(handle, pool); error != CUDA_SUCCESS) return error;
    if (pool->is_default) return CUDA_ERROR_INVALID_VALUE;
    {
        std::lock_guard lock(pool->device->mutex);
        if (pool->device->current_pool == pool) pool->device->current_pool = nullptr;
    }
    handles<Pool>().remove(handle);  // the object stays for allocations that outlive it, as documented
    return CUDA_SUCCESS;
}
CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t) {
    Pool* pool = nullptr;
    return find_pool(handle, pool);  // nothing is held back
}
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* map, size_t count) {
    Pool* pool = nullptr;
    if (map == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
    return find_pool(handle, pool);  // every device may reach every other one's memory
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
    Pool* pool = nullptr;
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_pool(handle, pool); error != CUDA_SUCCESS) return error;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
    Pool* pool = nullptr;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_pool(handle, pool); error != CUDA_SUCCESS) return error;
    auto& wide = *static_cast<cuuint64_t*>(value);
    std::lock_guard lock(pool->mutex);
    const auto set = pool->settings.find(attribute);
    switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            *static_cast<int*>(value) = set != pool->settings.end() ? static_cast<int>(set->second) : 1;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            wide = set != pool->settings.end() ? set->second : 0;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
            wide = pool->used;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            wide = pool->used_high;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}
CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
    Pool* pool = nullptr;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_pool(handle, pool); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(pool->mutex);
    switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            pool->settings[attribute] = static_cast<uint64_t>(*static_cast<const int*>(value));
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            pool->settings[attribute] = *static_cast<const cuuint64_t*>(value);
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            if (*static_cast<const cuuint64_t*>(value) != 0)
                return CUDA_ERROR_INVALID_VALUE;  // only a reset is allowed
            pool->used_high = pool->used.load();
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

// Memory of graphs comes from the default pool and is not counted apart.
CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
    if (value == nullptr || attribute < CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT ||
        attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    if (device_or_null(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *static_cast<cuuint64_t*>(value) = 0;
    return CUDA_SUCCESS;
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
    const bool high =
        attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (value == nullptr || !high || *static_cast<const cuuint64_t*>(value) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return device_or_null(ordinal) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
    return device_or_null(ordinal) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace driver
}  // namespace attnscope::vgpu
