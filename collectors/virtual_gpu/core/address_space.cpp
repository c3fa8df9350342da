#include "collectors/virtual_gpu/core/address_space.h"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <new>

namespace attnscope::vgpu {

uintptr_t reservation_base = 0;
size_t reservation_bytes = 0;

namespace {

// An entry of the block index: an allocation that fills the block, or a table of the small ones in it.
struct GranuleTable {
    std::atomic<Allocation*> at[block_bytes / granule_bytes];
};
constexpr uintptr_t table_bit = 1;

class AddressSpace {
  public:
    AddressSpace() {
        // Room for many devices with fragmentation, and for programs that reserve several times a device's
        // memory.
        for (size_t bytes = size_t{32} << 40; base_ == 0 && bytes >= size_t{64} << 30; bytes /= 2) {
            void* memory =
                mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) continue;
            const auto start = reinterpret_cast<uintptr_t>(memory);
            base_ = (start + block_bytes - 1) / block_bytes * block_bytes;
            bytes_ = (start + bytes - base_) / block_bytes * block_bytes;
        }
        if (base_ == 0) throw std::bad_alloc();
        void* index = mmap(nullptr, bytes_ / block_bytes * sizeof(index_[0]), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (index == MAP_FAILED) throw std::bad_alloc();
        index_ = static_cast<std::atomic<uintptr_t>*>(index);
        free_[base_] = bytes_;
        reservation_base = base_;
        reservation_bytes = bytes_;
    }

    uintptr_t reserve(size_t bytes, size_t alignment) {
        std::lock_guard lock(mutex_);
        for (auto range = free_.begin(); range != free_.end(); ++range) {
            const uintptr_t start = (range->first + alignment - 1) / alignment * alignment;
            if (start + bytes <= range->first + range->second && start + bytes >= start) {
                cut(range, start, bytes);
                return start;
            }
        }
        return 0;
    }

    bool reserve_at(uintptr_t address, size_t bytes) {
        std::lock_guard lock(mutex_);
        auto range = free_.upper_bound(address);
        if (range == free_.begin()) return false;
        --range;
        if (address + bytes > range->first + range->second || address + bytes < address) return false;
        cut(range, address, bytes);
        return true;
    }

    void release(uintptr_t address, size_t bytes) {
        std::lock_guard lock(mutex_);
        auto next = free_.upper_bound(address);
        if (next != free_.end() && next->first == address + bytes) {
            bytes += next->second;
            next = free_.erase(next);
        }
        if (next != free_.begin()) {
            auto before = std::prev(next);
            if (before->first + before->second == address) {
                before->second += bytes;
                return;
            }
        }
        free_[address] = bytes;
    }

    std::atomic<uintptr_t>& entry(uintptr_t address) { return index_[(address - base_) / block_bytes]; }

    GranuleTable* table(uintptr_t address) {
        std::atomic<uintptr_t>& e = entry(address);
        uintptr_t value = e.load(std::memory_order_acquire);
        if ((value & table_bit) == 0) {
            std::lock_guard lock(mutex_);
            value = e.load(std::memory_order_acquire);
            if ((value & table_bit) == 0) {
                value = reinterpret_cast<uintptr_t>(new GranuleTable()) | table_bit;
                e.store(value, std::memory_order_release);
            }
        }
        return reinterpret_cast<GranuleTable*>(value & ~table_bit);
    }

  private:
    using Ranges = std::map<uintptr_t, size_t>;

    void cut(Ranges::iterator range, uintptr_t start, size_t bytes) {
        const uintptr_t first = range->first, end = range->first + range->second;
        free_.erase(range);
        if (start > first) free_[first] = start - first;
        if (end > start + bytes) free_[start + bytes] = end - start - bytes;
    }

    uintptr_t base_ = 0;
    size_t bytes_ = 0;
    std::atomic<uintptr_t>* index_ = nullptr;
    std::mutex mutex_;
    Ranges free_;
};

AddressSpace& space() {
    static auto* s = new AddressSpace();
    return *s;
}

size_t whole_blocks(size_t bytes) {
    return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}

}  // namespace

uintptr_t reserve_addresses(size_t bytes, size_t alignment) {
    return space().reserve(whole_blocks(bytes), alignment);
}

uintptr_t reserve_addresses_at(uintptr_t address, size_t bytes) {
    return address % block_bytes == 0 && space().reserve_at(address, whole_blocks(bytes)) ? address : 0;
}

void release_addresses(uintptr_t address, size_t bytes) {
    space().release(address, whole_blocks(bytes));
}

bool back_with_pages(uintptr_t address, size_t bytes) {
    return mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE) == 0;
}

void drop_pages(uintptr_t address, size_t bytes) {
    // A new mapping over the old one: the pages go, and whoever still holds the pointer faults, as on a real
    // GPU.
    mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void index_allocation(uintptr_t address, size_t bytes, Allocation* allocation) {
    AddressSpace& s = space();
    if (address % block_bytes == 0 && bytes % block_bytes == 0) {
        for (size_t done = 0; done < bytes; done += block_bytes)
            s.entry(address + done).store(reinterpret_cast<uintptr_t>(allocation), std::memory_order_release);
        return;
    }
    GranuleTable* table = s.table(address);
    const size_t first = address % block_bytes / granule_bytes;
    for (size_t i = 0; i * granule_bytes < bytes; i++)
        table->at[first + i].store(allocation, std::memory_order_release);
}

Allocation* find_allocation(uintptr_t address) {
    if (!is_reserved_address(address)) return nullptr;
    AddressSpace& s = space();
    const uintptr_t value = s.entry(address).load(std::memory_order_acquire);
    if ((value & table_bit) == 0) return reinterpret_cast<Allocation*>(value);
    const auto* table = reinterpret_cast<const GranuleTable*>(value & ~table_bit);
    return table->at[address % block_bytes / granule_bytes].load(std::memory_order_acquire);
}

}  // namespace attnscope::vgpu
