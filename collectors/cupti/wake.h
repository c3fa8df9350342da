#pragma once
// Waiting with a time limit on the monotonic clock. A futex, because std::condition_variable's timed wait
// needs glibc 2.30 and pthread's follows the wall clock.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace attnscope::collector {

inline uint64_t monotonic_ms() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1'000'000;
}

class Signal {
  public:
    uint32_t state() const { return word_.load(std::memory_order_acquire); }
    void raise() {
        word_.fetch_add(1, std::memory_order_release);
        syscall(SYS_futex, address(), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
    /// Returns when somebody raised it since `seen`, or after `milliseconds`, or without a reason: check and
    /// wait again.
    void wait(uint32_t seen, uint32_t milliseconds) {
        const timespec limit{static_cast<time_t>(milliseconds / 1000),
                             static_cast<long>(milliseconds % 1000) * 1'000'000};
        syscall(SYS_futex, address(), FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
    }

  private:
    uint32_t* address() { return reinterpret_cast<uint32_t*>(&word_); }
    std::atomic<uint32_t> word_{0};
    static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
};

}  // namespace attnscope::collector
