#pragma once
// Counters for whole NVTX ranges: started where the range begins, on the program's thread, stopped where it
// ends. Kernels inside are not serialised. One range at a time.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "capture_watch.h"
#include "counter_book.h"

namespace attnscope::collector {

class CountedRanges {
  public:
    CountedRanges(CounterBook& book, const CaptureWatch& captures, Notices& notices, const CountersMode& mode)
        : book_(book), captures_(captures), notices_(notices), mode_(mode) {}

    /// After the range's line was written. `process`: an NVTX start/end range; `domain`: nullptr is the
    /// default one.
    void opened(uint32_t id, std::string_view name, bool process, const void* domain, uint32_t thread);
    void closed(uint32_t id, uint32_t thread);
    /// At each launch.
    void launched(const ContextCounters& context) {
        if (phase_.load(std::memory_order_acquire) == Phase::open &&
            open_context_.load(std::memory_order_relaxed) != context.handle)
            elsewhere_.store(true, std::memory_order_relaxed);
    }
    /// The context ends, or (nullptr) counting does: an open range is given up.
    void give_up(CUcontext context);
    void stop() { stopped_.store(true, std::memory_order_seq_cst); }

  private:
    enum class Phase : uint32_t { idle, busy, open };
    bool wanted(std::string_view name, bool process, const void* domain) const;
    bool open(uint32_t id, std::string_view name, uint32_t thread);
    void close(uint32_t id, uint32_t thread);
    void warn(const char* code, std::string_view message, std::string_view remedy,
              const char* severity = "warning") {
        notices_.diagnostic(severity, code, message, remedy);
    }

    CounterBook& book_;
    const CaptureWatch& captures_;
    Notices& notices_;
    const CountersMode& mode_;

    std::atomic<Phase> phase_{Phase::idle};
    std::atomic<CUcontext> open_context_{nullptr};
    std::atomic<bool> elsewhere_{false};  ///< launches came from another context meanwhile
    std::atomic<bool> stopped_{false};
    // Of whoever made the phase busy.
    std::shared_ptr<ContextCounters> context_;
    std::atomic<uint32_t> id_{0};
    uint32_t thread_ = 0;
    std::string name_;
};

}  // namespace attnscope::collector
