#pragma once
// Virtual device memory is address space: one large reservation without pages behind it, handed out in
// pieces. A pointer is told from any other 8 bytes by a range check and one load of an index with an entry
// for each 2 MiB.
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace attnscope::vgpu {

struct Allocation;

constexpr size_t block_bytes = size_t{2}
                               << 20;  ///< the granularity of physical memory on every current device
constexpr size_t granule_bytes = 512;  ///< of small allocations, that share a block

/// Address space of `bytes` (rounded up to whole blocks), aligned to `alignment` (a power of two, at least
/// one block). 0 when none is left.
uintptr_t reserve_addresses(size_t bytes, size_t alignment = block_bytes);
/// The same at exactly this address; 0 when it is taken.
uintptr_t reserve_addresses_at(uintptr_t address, size_t bytes);
void release_addresses(uintptr_t address, size_t bytes);

/// Real pages behind a reserved range (managed and pinned memory), zero-filled; false when the host has none.
bool back_with_pages(uintptr_t address, size_t bytes);
void drop_pages(uintptr_t address, size_t bytes);

/// From now on find_allocation() answers `allocation` within the range; nullptr takes it out.
/// A range within one block may share it with others; a longer one begins and ends at block boundaries.
void index_allocation(uintptr_t address, size_t bytes, Allocation* allocation);

/// The allocation that holds the address; nullptr for all that is no virtual device memory. Takes no lock.
/// The object stays readable for ever, but it may be freed or become another's: whoever changes it takes its
/// mutex and looks again.
Allocation* find_allocation(uintptr_t address);
/// Whether the address lies within the reservation at all. Asked for every word of every launch's parameters.
extern uintptr_t reservation_base;
extern size_t reservation_bytes;  ///< 0 before the first use
inline bool is_reserved_address(uintptr_t address) {
    return address - reservation_base < reservation_bytes;
}

}  // namespace attnscope::vgpu
