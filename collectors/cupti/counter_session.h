#pragma once
// The Range Profiler in one context: enable, then again and again start, stop, decode. Every call is CUPTI's;
// the caller holds none of our locks, and lets no other thread in.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config_request.h"
#include "range_profiler_api.h"

namespace attnscope::collector {

class CounterSession {
  public:
    enum class Range : uint8_t { automatic, user };

    CounterSession(const CuptiApi& cupti, const RangeProfilerApi& api, CUcontext context, Range range)
        : cupti_(cupti), api_(api), context_(context), range_(range) {}

    /// Each function below gives a failure without a code when all went well.
    CuptiFailure enable(std::shared_ptr<const CounterConfig> config);
    /// What is being counted is given up.
    CuptiFailure disable();

    /// Begins to count; the image has room for `ranges`. In user range, one range of this name is opened.
    /// What was started before and not stopped (because nothing may synchronise while a stream is captured)
    /// is given up first.
    CuptiFailure start(size_t ranges, const char* name = nullptr);

    struct Counted {
        size_t ranges = 0;   ///< that the image holds
        size_t dropped = 0;  ///< that CUPTI says it lost
    };
    /// Ends it and decodes: the image then holds the values. Synchronises the context.
    CuptiFailure stop(Counted& counted);

    bool enabled() const { return object_ != nullptr; }
    bool started() const { return started_; }
    CUcontext context() const { return context_; }
    const CounterConfig& config() const { return *config_; }
    /// Of the last start: the values, once it has been stopped.
    const std::vector<uint8_t>& image() const { return set_->bytes; }

    static constexpr size_t kRanges = 8;         ///< the room for what one launch is expected to make: 1
    static constexpr size_t kMostRanges = 1024;  ///< SetConfig was seen to refuse some 2000

  private:
    /// Counter data with room for so many ranges; 0: not made yet.
    struct Image {
        std::vector<uint8_t> bytes;
        size_t capacity = 0;
    };
    CuptiFailure end();
    CuptiFailure allocate(Image& image, size_t ranges);
    CuptiFailure initialize(Image& image);
    CuptiFailure set_config(Image& image);
    CuptiFailure failed(const char* call, CUptiResult result) const {
        return counters_failure(cupti_, call, result);
    }

    const CuptiApi& cupti_;
    const RangeProfilerApi& api_;
    CUcontext context_;
    Range range_;
    std::shared_ptr<const CounterConfig> config_;
    CUpti_RangeProfiler_Object* object_ = nullptr;
    Image small_, large_;   ///< for one launch; for a graph of many kernels
    Image* set_ = nullptr;  ///< the one that the profiler writes to
    bool started_ = false;
};

}  // namespace attnscope::collector
