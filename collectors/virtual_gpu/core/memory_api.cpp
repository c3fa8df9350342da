// cuMemAlloc*, cuMemFree*, cuMemHost*, cuMemGetInfo.
#include <algorithm>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/graph_memory.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "collectors/virtual_gpu/core/memory.h"
#include "collectors/virtual_gpu/core/pool.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
// What allocation functions ask first.
CUresult enter(Context*& context) {
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    return refuse_unsafe_call();
}

CUresult allocate(CUdeviceptr* out, size_t bytes) {
    if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = enter(context); error != CUDA_SUCCESS) return error;
    const Allocation* memory = allocate_device(*context, bytes);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = memory->base;
    return CUDA_SUCCESS;
}

CUresult allocate_pinned(void** out, size_t bytes, unsigned flags) {
    constexpr unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (out == nullptr || bytes == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = enter(context); error != CUDA_SUCCESS) return error;
    const Allocation* memory = allocate_host(*context, bytes, MemoryKind::pinned, flags);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = reinterpret_cast<void*>(memory->base.load());
    return CUDA_SUCCESS;
}
}  // namespace

namespace driver {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    *total = context->device->total_bytes;
    *free = *total - std::min(*total, context->device->used_bytes.load());
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
    return allocate(out, bytes);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
    if (pitch == nullptr || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t row = (width + granule_bytes - 1) / granule_bytes * granule_bytes;
    if (row < width || height > SIZE_MAX / row) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = allocate(out, row * height);
    if (result == CUDA_SUCCESS) *pitch = row;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    if (pointer == 0) return CUDA_SUCCESS;
    Context* context = nullptr;
    if (CUresult error = enter(context); error != CUDA_SUCCESS) return error;
    wait_for_host_functions();  // freeing waits for the device's work, and copies may wait for a host
                                // function
    const GraphFree graphs = free_graph_memory(pointer);
    if (graphs != GraphFree::not_a_graphs)
        return graphs == GraphFree::freed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    return free_to_pool(pointer) || free_allocation(pointer, MemoryKind::managed) ? CUDA_SUCCESS
                                                                                  : CUDA_ERROR_INVALID_VALUE;
}

// Managed memory has real pages, which the program reads and writes without us: content that a kernel would
// have put there is missing, and such reads cannot be noticed. The first kernel that gets a pointer into it
// is reported.
CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
    if (out == nullptr || bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = enter(context); error != CUDA_SUCCESS) return error;
    const Allocation* memory = allocate_host(*context, bytes, MemoryKind::managed, flags);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = memory->base;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
    return allocate_pinned(out, bytes, flags);
}
CUresult cuMemAllocHost_v2(void** out, size_t bytes) {
    return allocate_pinned(out, bytes, 0);
}
CUresult cuMemAllocHost(void** out, unsigned bytes) {
    return allocate_pinned(out, bytes, 0);
}

CUresult cuMemFreeHost(void* pointer) {
    Context* context = nullptr;
    if (CUresult error = enter(context); error != CUDA_SUCCESS) return error;
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    wait_for_host_functions();
    return free_allocation(reinterpret_cast<uintptr_t>(pointer), MemoryKind::pinned)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
    constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                               CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & (CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    Context* context = nullptr;
    if (CUresult error = enter(context); error != CUDA_SUCCESS) return error;
    const auto base = reinterpret_cast<uintptr_t>(pointer);
    if (live_allocation(base) != nullptr) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    return register_host_range({base, bytes, flags, context}) ? CUDA_SUCCESS
                                                              : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}
CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
    return driver::cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
    Context* context = nullptr;
    if (CUresult error = enter(context); error != CUDA_SUCCESS) return error;
    return unregister_host_range(reinterpret_cast<uintptr_t>(pointer))
               ? CUDA_SUCCESS
               : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* pointer, unsigned flags) {
    if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (classify(address).kind != MemoryKind::pinned) return CUDA_ERROR_INVALID_VALUE;
    *out = address;  // unified addressing
    return CUDA_SUCCESS;
}
CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Allocation* memory = live_allocation(reinterpret_cast<uintptr_t>(pointer));
    if (memory == nullptr || memory->kind != MemoryKind::pinned) return CUDA_ERROR_INVALID_VALUE;
    *flags = memory->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
    const Allocation* memory = live_allocation(pointer);
    if (memory == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = memory->base;
    if (bytes != nullptr) *bytes = memory->bytes;
    return CUDA_SUCCESS;
}

// Hints on where managed memory should live. There is one place.
CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t, CUmem_advise, CUmemLocation) {
    const Allocation* memory = live_allocation(pointer);
    return memory != nullptr && memory->kind == MemoryKind::managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice) {
    return driver::cuMemAdvise_v2(pointer, bytes, advice, {});
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t, CUmemLocation, unsigned, CUstream) {
    const Allocation* memory = live_allocation(pointer);
    return memory != nullptr && memory->kind == MemoryKind::managed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice, CUstream stream) {
    return driver::cuMemPrefetchAsync_v2(pointer, bytes, {}, 0, stream);
}

// Other processes have no virtual GPU to share memory with.
CUresult cuIpcGetMemHandle(CUipcMemHandle*, CUdeviceptr) {
    report_unsupported("CUDA driver", "cuIpcGetMemHandle");
    return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr*, CUipcMemHandle, unsigned) {
    report_unsupported("CUDA driver", "cuIpcOpenMemHandle");
    return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace driver
}  // namespace attnscope::vgpu
