// Virtual memory management: cuMemCreate, cuMemAddressReserve, cuMemMap and kin. A mapping has content of its
// own: two mappings of the same physical memory do not see each other's bytes.
#include <map>
#include <mutex>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/memory.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

struct Physical {
    VirtualDevice* device = nullptr;
    CUmemAllocationProp properties{};
    size_t bytes = 0;
    unsigned references = 1;  ///< handles that the program holds, and mappings
    CUmemGenericAllocationHandle handle = 0;
};

struct Mapped {
    Allocation* allocation = nullptr;
    Physical* physical = nullptr;
    size_t bytes = 0;
};

struct Vmm {
    std::mutex mutex;
    std::map<uintptr_t, size_t> reservations;
    std::map<uintptr_t, Mapped> mappings;
};
Vmm& vmm() {
    static auto* v = new Vmm();
    return *v;
}

Physical* find_physical(CUmemGenericAllocationHandle handle) {
    return handles<Physical>().get(reinterpret_cast<const void*>(handle));
}

// With the mutex held.
void drop(Physical& physical) {
    if (--physical.references != 0) return;
    handles<Physical>().remove(reinterpret_cast<const void*>(physical.handle));
    physical.device->give_back(physical.bytes);
    delete &physical;
}

bool aligned(size_t value) {
    return value % block_bytes == 0;
}

CUresult refuse_export(const char* function) {
    report_unsupported("CUDA driver", function);
    return CUDA_ERROR_NOT_SUPPORTED;
}

// The mappings that make up exactly [address, address + bytes); empty when they do not.
std::vector<std::map<uintptr_t, Mapped>::iterator> exact_mappings(uintptr_t address, size_t bytes) {
    std::vector<std::map<uintptr_t, Mapped>::iterator> found;
    uintptr_t at = address;
    for (auto m = vmm().mappings.find(address);
         m != vmm().mappings.end() && m->first == at && at < address + bytes; ++m) {
        found.push_back(m);
        at += m->second.bytes;
    }
    if (at != address + bytes) found.clear();
    return found;
}

}  // namespace

namespace driver {

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
    if (bytes == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = block_bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* out, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
    if (out == nullptr || bytes == 0 || !aligned(bytes) || flags != 0 || (alignment & (alignment - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t unit = alignment > block_bytes ? alignment : block_bytes;
    uintptr_t address = 0;
    if (wish != 0 && wish % unit == 0) address = reserve_addresses_at(wish, bytes);
    if (address == 0) address = reserve_addresses(bytes, unit);
    if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    std::lock_guard lock(vmm().mutex);
    vmm().reservations[address] = bytes;
    *out = address;
    return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    std::lock_guard lock(vmm().mutex);
    const auto reservation = vmm().reservations.find(address);
    if (reservation == vmm().reservations.end() || reservation->second != bytes)
        return CUDA_ERROR_INVALID_VALUE;
    const auto mapped = vmm().mappings.lower_bound(address);
    if (mapped != vmm().mappings.end() && mapped->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
    vmm().reservations.erase(reservation);
    release_addresses(address, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
    if (out == nullptr || properties == nullptr || bytes == 0 || !aligned(bytes) || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
    // As on a device without a fabric. A file descriptor may be asked for (LibTorch's expandable segments
    // always do): only the export itself is refused.
    if ((properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return refuse_export("cuMemCreate in host memory");
    VirtualDevice* device = device_or_null(properties->location.id);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (!device->take(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    auto* physical = new Physical{device, *properties, bytes, 1, 0};
    physical->handle = reinterpret_cast<CUmemGenericAllocationHandle>(handles<Physical>().add(physical));
    *out = physical->handle;
    return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    std::lock_guard lock(vmm().mutex);
    Physical* physical = find_physical(handle);
    if (physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
    drop(*physical);
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    if (bytes == 0 || !aligned(bytes) || address % block_bytes != 0 || offset != 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(vmm().mutex);
    Physical* physical = find_physical(handle);
    if (physical == nullptr || bytes > physical->bytes) return CUDA_ERROR_INVALID_VALUE;
    auto reservation = vmm().reservations.upper_bound(address);
    if (reservation == vmm().reservations.begin()) return CUDA_ERROR_INVALID_VALUE;
    --reservation;
    if (address + bytes > reservation->first + reservation->second) return CUDA_ERROR_INVALID_VALUE;
    auto next = vmm().mappings.lower_bound(address);
    if (next != vmm().mappings.end() && next->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
    if (next != vmm().mappings.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address)
        return CUDA_ERROR_INVALID_VALUE;
    physical->references++;
    vmm().mappings[address] = {map_allocation(*physical->device, current_context_or_null(), address, bytes),
                               physical, bytes};
    return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    std::lock_guard lock(vmm().mutex);
    const auto found = exact_mappings(address, bytes);
    if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& mapping : found) {
        unmap_allocation(*mapping->second.allocation);
        drop(*mapping->second.physical);
        vmm().mappings.erase(mapping);
    }
    return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access, size_t count) {
    if (access == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(vmm().mutex);
    const auto found = exact_mappings(address, bytes);
    if (found.empty()) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
        if (device_or_null(access[i].location.id) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
        for (const auto& mapping : found)
            mapping->second.allocation->read_write =
                (access[i].flags & CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    return CUDA_SUCCESS;
}
CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Allocation* memory = live_allocation(address);
    if (memory == nullptr || !memory->mapped) return CUDA_ERROR_INVALID_VALUE;
    *flags = memory->read_write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(vmm().mutex);
    const auto at = reinterpret_cast<uintptr_t>(address);
    auto next = vmm().mappings.upper_bound(at);
    if (next == vmm().mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
    const Mapped& mapped = std::prev(next)->second;
    if (at - std::prev(next)->first >= mapped.bytes) return CUDA_ERROR_INVALID_VALUE;
    mapped.physical->references++;
    *out = mapped.physical->handle;
    return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out,
                                                CUmemGenericAllocationHandle handle) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(vmm().mutex);
    const Physical* physical = find_physical(handle);
    if (physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = physical->properties;
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void*, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                                      unsigned long long) {
    return refuse_export("cuMemExportToShareableHandle");
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle*, void*, CUmemAllocationHandleType) {
    return refuse_export("cuMemImportFromShareableHandle");
}

}  // namespace driver
}  // namespace attnscope::vgpu
