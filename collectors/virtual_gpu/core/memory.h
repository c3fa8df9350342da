#pragma once
// Allocations: device, managed and pinned memory, and host memory that the program registered.
#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "collectors/virtual_gpu/core/address_space.h"
#include "collectors/virtual_gpu/core/content.h"
#include "collectors/virtual_gpu/core/device.h"

namespace attnscope::vgpu {

struct Context;
struct Pool;

/// CUPTI's CUpti_ActivityMemoryKind.
enum class MemoryKind : uint8_t { pageable = 1, pinned = 2, device = 3, managed = 5, device_static = 6 };

/// A piece of the virtual address space. Objects are reused, never freed: a launch may look at one that
/// another thread frees.
struct Allocation {
    std::atomic<bool> live{false};
    std::atomic<uintptr_t> base{0};
    std::atomic<size_t> bytes{0};
    MemoryKind kind = MemoryKind::device;
    VirtualDevice* device = nullptr;
    Context* context = nullptr;
    unsigned flags = 0;  ///< cuMemHostAlloc's, cuMemAllocManaged's
    uint64_t id = 0;     ///< CU_POINTER_ATTRIBUTE_BUFFER_ID
    size_t taken = 0;    ///< physical bytes of the device that go back when it is freed
    Pool* pool = nullptr;
    bool mapped = false;     ///< by cuMemMap: only cuMemUnmap takes it away
    bool read_write = true;  ///< cuMemSetAccess; false until it is called for a mapping

    std::mutex mutex;
    Content content;  ///< of device memory; managed and pinned memory is real and known to the host itself
    std::atomic<bool> device_wrote{false};  ///< a kernel had a pointer into it

    bool holds(uintptr_t address) const {
        return live.load(std::memory_order_acquire) &&
               address - base.load(std::memory_order_relaxed) < bytes.load(std::memory_order_relaxed);
    }
};

/// Device memory of `bytes` > 0, aligned to 512 bytes as cuMemAlloc's is. nullptr: the device has no more.
Allocation* allocate_device(Context& context, size_t bytes, Pool* pool = nullptr);
/// Real host memory in the virtual address space; `kind` is managed or pinned.
Allocation* allocate_host(Context& context, size_t bytes, MemoryKind kind, unsigned flags);
/// An allocation over addresses and physical memory that the caller owns (cuMemMap).
Allocation* map_allocation(VirtualDevice& device, Context* context, uintptr_t address, size_t bytes);

/// The live allocation that holds `address`; nullptr when none does.
Allocation* live_allocation(uintptr_t address);
/// Frees what begins at `address` and is of this kind. False: no such allocation.
bool free_allocation(uintptr_t address, MemoryKind kind);
/// Takes a mapping out of the address space; addresses and physical memory stay the caller's.
void unmap_allocation(Allocation& allocation);
/// What a destroyed context leaves behind.
void free_memory_of(const Context& context);

/// Device memory at `address` was written by a kernel or a library: unknown up to the next boundary of known
/// content.
void device_wrote(uintptr_t address);
/// A kernel whose parameters nobody knows ran: nothing is known of this device's memory any more.
void device_wrote_anywhere(const VirtualDevice& device);

/// Host memory of the program that cuMemHostRegister locked.
struct RegisteredRange {
    uintptr_t base = 0;
    size_t bytes = 0;
    unsigned flags = 0;
    Context* context = nullptr;
};
/// False when it overlaps a registered range.
bool register_host_range(const RegisteredRange& range);
bool unregister_host_range(uintptr_t base);
std::optional<RegisteredRange> registered_range(uintptr_t address);

/// What an address is to a copy or a query.
struct AddressKind {
    MemoryKind kind = MemoryKind::pageable;
    Allocation* allocation = nullptr;
    const VirtualDevice* device = nullptr;  ///< nullptr for pageable memory
};
AddressKind classify(uintptr_t address);

}  // namespace attnscope::vgpu
