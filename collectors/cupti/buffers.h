#pragma once
// Activity buffers: CUPTI asks for one on an application thread, in the middle of a CUDA call and under its
// own lock, and hands it back on whatever thread completes it. So both sides only take from a list and put on
// a list.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "wake.h"

namespace attnscope::collector {

class BufferPool {
  public:
    static constexpr size_t kBigBytes = 1 << 20, kSmallBytes = 1 << 18;
    static constexpr size_t kBigCount =
        16;  ///< so many big ones, then small ones: CUPTI 13 keeps one a thread
    static constexpr size_t kMaxBytes = 24 << 20;
    /// How long a full pool holds up the program, without a single buffer coming back, before records are
    /// dropped. It does so once: until the next one comes back nobody waits any more.
    static constexpr uint32_t kWaitMs = 10000;

    struct Completed {
        uint8_t* data;
        size_t valid;
    };

    /// nullptr when the pool stays full and `may_decline`: CUPTI then drops records and counts them.
    uint8_t* request(size_t& size, bool may_decline);
    void complete(uint8_t* data, size_t valid);
    /// What has come back since the last call.
    void take(std::vector<Completed>& completed);
    void recycle(uint8_t* data);
    /// True when nothing waits to be taken.
    bool idle() {
        const std::lock_guard lock(mutex_);
        return completed_.empty();
    }

    /// Raised when a buffer has come back.
    Signal& arrived() { return arrived_; }
    uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
    /// With CUPTI at the moment.
    size_t outstanding() const { return outstanding_.load(std::memory_order_relaxed); }

    void lock_for_fork() { mutex_.lock(); }
    void unlock_for_fork() { mutex_.unlock(); }

  private:
    uint8_t* take_free(size_t& size, bool beyond_limit);

    std::mutex mutex_;
    std::vector<uint8_t*> free_;
    std::unordered_map<uint8_t*, size_t> sizes_;  ///< of every buffer that was ever made
    std::vector<Completed> completed_;
    size_t bytes_ = 0;
    std::atomic<uint64_t> requests_{0};
    std::atomic<size_t> outstanding_{0};
    std::atomic<uint64_t> stuck_{0};  ///< recycled_'s state when a wait was given up, plus 1
    Signal arrived_, recycled_;
};

}  // namespace attnscope::collector
