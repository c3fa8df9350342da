#pragma once
// Which operation made an autograd node: LibTorch numbers a thread's nodes, an operation sees the number that
// the next one will get, and the backward function says its node's thread and number.
#include <atomic>
#include <cstdint>

#include "hash.h"

namespace attnscope::libtorch {

class ForwardBook {
  public:
    /// The last operation that saw a number before the node was made is the one that made it: a later call
    /// replaces an earlier one.
    void put(uint64_t thread, int64_t sequence, uint32_t operation) {
        const uint64_t key = key_of(thread, sequence);
        entries_[key % kEntries].store((key & ~kOperation) | operation, std::memory_order_relaxed);
    }
    /// 0: not known; half a million later nodes may have taken its place.
    uint32_t get(uint64_t thread, int64_t sequence) const {
        const uint64_t key = key_of(thread, sequence);
        const uint64_t held = entries_[key % kEntries].load(std::memory_order_relaxed);
        return ((held ^ key) & ~kOperation) == 0 ? static_cast<uint32_t>(held & kOperation) : 0;
    }

  private:
    static constexpr uint64_t kEntries = 1u << 19, kOperation = (1u << 17) - 1;
    /// Neighbouring numbers of one thread lie side by side.
    static uint64_t key_of(uint64_t thread, int64_t sequence) {
        Hash hash(thread);
        hash.add(static_cast<uint64_t>(sequence) / kEntries);
        return (hash.value() & ~(kEntries - 1)) |
               ((hash.value() + static_cast<uint64_t>(sequence)) & (kEntries - 1));
    }
    std::atomic<uint64_t> entries_[kEntries] = {};
};

}  // namespace attnscope::libtorch
