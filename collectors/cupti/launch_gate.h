#pragma once
// Lets one launch at a time onto a device whose launches are counted: a launch of another thread inside a
// counted one would be a range of its own in the same data. Not a mutex: it is held while CUDA and CUPTI run,
// so waiting for it has an end.
#include <atomic>
#include <cstdint>

#include "wake.h"

namespace attnscope::collector {

class LaunchGate {
  public:
    static constexpr uint32_t kWaitMs = 2000;

    bool try_enter() {
        bool free = false;
        return held_.compare_exchange_strong(free, true, std::memory_order_seq_cst);
    }
    /// False: it was not free within the time. Time during which the holder prepares does not count: it
    /// waits for the launcher, not for the device.
    bool enter(uint32_t wait_ms = kWaitMs) {
        uint64_t since = 0;
        for (;;) {
            const uint32_t seen = left_.state();
            if (try_enter()) return true;
            if (open_.load(std::memory_order_acquire)) return false;
            const uint64_t now = monotonic_ms();
            if (since == 0 || preparing_.load(std::memory_order_acquire)) since = now;
            if (now - since >= wait_ms) return false;
            left_.wait(seen, 20);
        }
    }
    void leave() {
        held_.store(false, std::memory_order_seq_cst);
        left_.raise();
    }
    void set_preparing(bool preparing) { preparing_.store(preparing, std::memory_order_release); }
    /// From now on nobody waits.
    void open() {
        open_.store(true, std::memory_order_release);
        left_.raise();
    }

  private:
    std::atomic<bool> held_{false}, preparing_{false}, open_{false};
    Signal left_;
};

}  // namespace attnscope::collector
