#pragma once
// NVTX's ranges. Push/pop ranges belong to a thread and reach the launches as CUPTI's external correlation
// ids; start/end ranges belong to the process, and a launch is in the one that was open, innermost, at the
// host time of its API record.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace attnscope::collector {

class RangeBook {
  public:
    struct Opened {
        uint32_t id = 0;
        uint32_t parent = 0;  ///< the innermost process range at that moment, 0 when none
        uint64_t start_ns = 0;
    };

    uint32_t next_id() { return next_.fetch_add(1, std::memory_order_relaxed); }

    /// `start_ns` is moved up to the latest start where another thread was quicker: ranges are in the order
    /// of their starts.
    Opened open_process_range(uint64_t start_ns);
    /// False when there is no such open range (ended twice, or never started).
    bool close_process_range(uint32_t id, uint64_t end_ns);

    /// The innermost process range open now, 0 when none.
    uint32_t innermost() const { return innermost_.load(std::memory_order_acquire); }
    /// The innermost one that was open at `time_ns`, 0 when none.
    uint32_t innermost_at(uint64_t time_ns) const;

    void lock_for_fork() { mutex_.lock(); }
    void unlock_for_fork() { mutex_.unlock(); }

    static constexpr size_t kKept = 65536;  ///< ended ranges that late records can still be matched with

  private:
    struct Entry {
        uint64_t start_ns, end_ns;
        uint32_t id;
        int32_t parent;  ///< index of the innermost one at its start, -1 when none
    };
    void forget_old();

    mutable std::mutex mutex_;
    std::vector<Entry> entries_;  ///< by start
    std::vector<int32_t> open_;   ///< indices, by start
    std::atomic<uint32_t> next_{1};
    std::atomic<uint32_t> innermost_{0};
};

/// The external correlation id of a launch inside `range`: the joiner needs both numbers.
constexpr uint64_t external_id(uint32_t range, uint32_t process_range) {
    return static_cast<uint64_t>(process_range) << 32 | range;
}

}  // namespace attnscope::collector
