#include "collectors/virtual_gpu/core/memory.h"

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/context.h"

namespace attnscope::vgpu {

namespace {

// From here on an allocation has blocks of its own, as the driver does it.
constexpr size_t large_bytes = size_t{1} << 20;

size_t whole(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// Small allocations share 2 MiB blocks.
struct Slab {
    uintptr_t base;
    std::map<uintptr_t, size_t> free;  ///< address -> bytes
};

struct Allocations {
    std::mutex mutex;
    std::set<Allocation*> live;
    std::deque<Allocation*> unused;
    std::map<const VirtualDevice*, std::vector<Slab>> slabs;
    uint64_t ids = 0;
};
Allocations& allocations() {
    static auto* a = new Allocations();
    return *a;
}

Allocation* publish(uintptr_t base, size_t bytes, size_t index_bytes, MemoryKind kind, VirtualDevice& device,
                    Context* context) {
    Allocations& all = allocations();
    std::lock_guard lock(all.mutex);
    Allocation* a;
    // Long out of use before it is used again: a thread that just looked one up must not see it change under
    // its hands.
    if (all.unused.size() > 256) {
        a = all.unused.front();
        all.unused.pop_front();
    } else {
        a = new Allocation();
    }
    std::lock_guard own(a->mutex);
    a->base = base;
    a->bytes = bytes;
    a->kind = kind;
    a->device = &device;
    a->context = context;
    a->flags = 0;
    a->id = ++all.ids;
    a->taken = 0;
    a->pool = nullptr;
    a->mapped = false;
    a->read_write = true;
    a->content.clear();
    a->device_wrote = false;
    a->live.store(true, std::memory_order_release);
    all.live.insert(a);
    index_allocation(base, index_bytes, a);
    return a;
}

// False when another thread was faster.
bool retire(Allocation& a, size_t index_bytes) {
    Allocations& all = allocations();
    std::lock_guard lock(all.mutex);
    std::lock_guard own(a.mutex);
    if (!a.live.exchange(false)) return false;
    index_allocation(a.base, index_bytes, nullptr);
    a.content.clear();
    all.live.erase(&a);
    all.unused.push_back(&a);
    return true;
}

uintptr_t take_granules(VirtualDevice& device, size_t bytes) {
    Allocations& all = allocations();
    std::lock_guard lock(all.mutex);
    auto& slabs = all.slabs[&device];
    auto from = [&](Slab& slab) -> uintptr_t {
        for (auto range = slab.free.begin(); range != slab.free.end(); ++range) {
            if (range->second < bytes) continue;
            const uintptr_t address = range->first;
            const size_t rest = range->second - bytes;
            slab.free.erase(range);
            if (rest != 0) slab.free[address + bytes] = rest;
            return address;
        }
        return 0;
    };
    for (Slab& slab : slabs)
        if (const uintptr_t address = from(slab)) return address;
    if (!device.take(block_bytes)) return 0;
    const uintptr_t base = reserve_addresses(block_bytes);
    if (base == 0) {
        device.give_back(block_bytes);
        return 0;
    }
    slabs.push_back({base, {{base, block_bytes}}});
    return from(slabs.back());
}

void give_granules(VirtualDevice& device, uintptr_t address, size_t bytes) {
    Allocations& all = allocations();
    std::lock_guard lock(all.mutex);
    auto& slabs = all.slabs[&device];
    for (auto slab = slabs.begin(); slab != slabs.end(); ++slab) {
        if (address - slab->base >= block_bytes) continue;
        auto next = slab->free.lower_bound(address);
        if (next != slab->free.end() && next->first == address + bytes) {
            bytes += next->second;
            next = slab->free.erase(next);
        }
        if (next != slab->free.begin() && std::prev(next)->first + std::prev(next)->second == address) {
            std::prev(next)->second += bytes;
        } else {
            slab->free[address] = bytes;
        }
        if (slab->free.size() == 1 && slab->free.begin()->second == block_bytes) {
            // The block's table of granules stays with the address range; it is empty now.
            const uintptr_t base = slab->base;
            slabs.erase(slab);
            release_addresses(base, block_bytes);
            device.give_back(block_bytes);
        }
        return;
    }
}

}  // namespace

Allocation* allocate_device(Context& context, size_t bytes, Pool* pool) {
    VirtualDevice& device = *context.device;
    Allocation* a = nullptr;
    if (bytes > device.total_bytes) return nullptr;
    if (bytes < large_bytes) {
        const size_t size = whole(bytes, granule_bytes);
        const uintptr_t address = take_granules(device, size);
        if (address == 0) return nullptr;
        a = publish(address, bytes, size, MemoryKind::device, device, &context);
    } else {
        const size_t size = whole(bytes, block_bytes);
        if (!device.take(size)) return nullptr;
        const uintptr_t address = reserve_addresses(size);
        if (address == 0) {
            device.give_back(size);
            return nullptr;
        }
        a = publish(address, bytes, size, MemoryKind::device, device, &context);
        a->taken = size;
    }
    a->pool = pool;
    return a;
}

Allocation* allocate_host(Context& context, size_t bytes, MemoryKind kind, unsigned flags) {
    const size_t size = whole(bytes, block_bytes);
    const uintptr_t address = reserve_addresses(size);
    if (address == 0) return nullptr;
    if (!back_with_pages(address, size)) {
        release_addresses(address, size);
        return nullptr;
    }
    Allocation* a = publish(address, bytes, size, kind, *context.device, &context);
    a->flags = flags;
    return a;
}

Allocation* map_allocation(VirtualDevice& device, Context* context, uintptr_t address, size_t bytes) {
    Allocation* a = publish(address, bytes, bytes, MemoryKind::device, device, context);
    a->mapped = true;
    a->read_write = false;
    return a;
}

Allocation* live_allocation(uintptr_t address) {
    Allocation* a = find_allocation(address);
    return a != nullptr && a->holds(address) ? a : nullptr;
}

bool free_allocation(uintptr_t address, MemoryKind kind) {
    Allocation* a = live_allocation(address);
    if (a == nullptr || a->base != address || a->kind != kind || a->mapped) return false;
    VirtualDevice& device = *a->device;
    const size_t taken = a->taken;
    const bool small = kind == MemoryKind::device && a->bytes < large_bytes;
    const size_t size = whole(a->bytes, small ? granule_bytes : block_bytes);
    if (!retire(*a, size)) return false;
    if (small) {
        give_granules(device, address, size);
        return true;
    }
    if (kind != MemoryKind::device) drop_pages(address, size);
    release_addresses(address, size);
    if (taken != 0) device.give_back(taken);
    return true;
}

void unmap_allocation(Allocation& allocation) {
    retire(allocation, allocation.bytes);
}

void free_memory_of(const Context& context) {
    std::vector<std::pair<uintptr_t, MemoryKind>> left;
    {
        std::lock_guard lock(allocations().mutex);
        for (const Allocation* a : allocations().live)
            if (a->context == &context && !a->mapped) left.emplace_back(a->base, a->kind);
    }
    for (const auto& [address, kind] : left) free_allocation(address, kind);
}

void device_wrote(uintptr_t address) {
    Allocation* a = live_allocation(address);
    if (a == nullptr) return;
    if (!a->device_wrote.load(std::memory_order_relaxed)) {
        a->device_wrote.store(true, std::memory_order_relaxed);
        // Its pages are the host's own, so a later read of them cannot be noticed.
        if (a->kind != MemoryKind::device)
            report("warning", "host-visible-memory",
                   "a kernel had a pointer into managed or pinned memory; what it would have written there "
                   "is missing, and the "
                   "program's own reads of it are not counted",
                   "do not trust results that the program reads from managed or mapped memory");
    }
    if (a->kind != MemoryKind::device) return;
    if (!a->content.empty()) {
        std::lock_guard lock(a->mutex);
        if (a->holds(address)) a->content.forget_reached(address - a->base, a->bytes);
    }
    // Mappings that follow one another are one piece of memory to the program (cuMemMap).
    while (a->mapped) {
        const uintptr_t next = a->base + a->bytes;
        a = live_allocation(next);
        if (a == nullptr || !a->mapped || a->base != next) return;
        a->device_wrote.store(true, std::memory_order_relaxed);
        if (a->content.empty()) continue;
        std::lock_guard lock(a->mutex);
        if (a->holds(next)) a->content.forget_reached(0, a->bytes);
        return;
    }
}

void device_wrote_anywhere(const VirtualDevice& device) {
    std::lock_guard lock(allocations().mutex);
    for (Allocation* a : allocations().live) {
        if (a->device != &device) continue;
        a->device_wrote.store(true, std::memory_order_relaxed);
        if (a->content.empty()) continue;
        std::lock_guard own(a->mutex);
        a->content.clear();
    }
}

AddressKind classify(uintptr_t address) {
    if (Allocation* a = live_allocation(address)) return {a->kind, a, a->device};
    if (const auto range = registered_range(address))
        return {MemoryKind::pinned, nullptr, range->context->device};
    return {};
}

void mark_uncomputed(const void* device_pointer) {
    device_wrote(reinterpret_cast<uintptr_t>(device_pointer));
}

}  // namespace attnscope::vgpu
