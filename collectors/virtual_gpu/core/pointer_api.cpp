// cuPointerGetAttribute and kin: what an address is.
#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/memory.h"
#include "collectors/virtual_gpu/core/pool.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

struct PointedAt {
    AddressKind kind;
    CUcontext context = nullptr;
    uintptr_t base = 0;
    size_t bytes = 0;
};

PointedAt look_at(CUdeviceptr address) {
    PointedAt known{classify(address)};
    if (const Allocation* a = known.kind.allocation) {
        known.context = a->context != nullptr ? a->context->handle : nullptr;
        known.base = a->base;
        known.bytes = a->bytes;
    } else if (const auto range = registered_range(address)) {
        known.context = range->context->handle;
        known.base = range->base;
        known.bytes = range->bytes;
    }
    return known;
}

// CUDA_ERROR_INVALID_VALUE when the attribute has no value for this memory.
CUresult attribute_value(const PointedAt& known, CUpointer_attribute attribute, CUdeviceptr address,
                         void* out) {
    const MemoryKind kind = known.kind.kind;
    const bool host_visible = kind == MemoryKind::pinned || kind == MemoryKind::managed;
    const Allocation* a = known.kind.allocation;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            *static_cast<CUcontext*>(out) = known.context;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *static_cast<CUmemorytype*>(out) =
                kind == MemoryKind::pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *static_cast<CUdeviceptr*>(out) = address;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (!host_visible) return CUDA_ERROR_INVALID_VALUE;
            *static_cast<void**>(out) = reinterpret_cast<void*>(address);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            *static_cast<bool*>(out) = false;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            *static_cast<unsigned long long*>(out) = a != nullptr ? a->id : known.base;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *static_cast<bool*>(out) = kind == MemoryKind::managed;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *static_cast<int*>(out) = known.kind.device->ordinal;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
            *static_cast<bool*>(out) = false;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            *static_cast<CUdeviceptr*>(out) = known.base;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
            *static_cast<size_t*>(out) = known.bytes;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MAPPED:
            *static_cast<bool*>(out) = true;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            *static_cast<unsigned long long*>(out) = 0;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            *static_cast<bool*>(out) = false;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            *static_cast<unsigned*>(out) = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            *static_cast<CUmemoryPool*>(out) = a != nullptr && a->pool != nullptr ? a->pool->handle : nullptr;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
            *static_cast<bool*>(out) = false;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

size_t value_bytes(CUpointer_attribute attribute) {
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            return 4;
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_MAPPED:
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
            return 1;
        default:
            return 8;
    }
}

}  // namespace

namespace driver {

CUresult cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const PointedAt known = look_at(address);
    if (known.kind.kind == MemoryKind::pageable) {
        if (attribute != CU_POINTER_ATTRIBUTE_MAPPED) return CUDA_ERROR_INVALID_VALUE;
        *static_cast<bool*>(out) = false;
        return CUDA_SUCCESS;
    }
    return attribute_value(known, attribute, address, out);
}

// Unlike the one above it succeeds for any address: attributes without a value are zero.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** out,
                                CUdeviceptr address) {
    if (count == 0 || attributes == nullptr || out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const PointedAt known = look_at(address);
    for (unsigned i = 0; i < count; i++) {
        if (out[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (known.kind.kind != MemoryKind::pageable &&
            attribute_value(known, attributes[i], address, out[i]) == CUDA_SUCCESS)
            continue;
        __builtin_memset(out[i], 0, value_bytes(attributes[i]));
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *static_cast<int*>(out[i]) = -2;
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
    if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
        live_allocation(address) == nullptr)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;  // every copy is done when it is issued
}

}  // namespace driver
}  // namespace attnscope::vgpu
