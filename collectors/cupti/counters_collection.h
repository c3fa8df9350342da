#pragma once
// A counters collection: CUPTI's callbacks instead of its activity records (nobody documents that the Range
// Profiler and activity records may be on together), and the Range Profiler. Lives as long as the process.
#include <atomic>
#include <cstdint>
#include <string>

#include "capture_watch.h"
#include "counted_launches.h"
#include "counted_ranges.h"
#include "counter_book.h"
#include "counters_mode.h"
#include "graph_book.h"
#include "launch_recorder.h"

namespace attnscope::collector {

class Session;
struct ThreadState;

class CountersCollection {
  public:
    CountersCollection(Session& session, const CountersMode& mode);

    /// In cuInit: finds CUPTI, subscribes, enables the callbacks. `stem`: the process's file without its
    /// ending.
    CuptiFailure start(const char* hints, const std::string& run, const std::string& stem,
                       bool virtual_ground);

    const CuptiApi& cupti() const { return cupti_; }
    const LaunchRecorder::Counts& counts() const { return recorder_.counts(); }
    /// The program has made a context or launched something: CUDA may be asked.
    bool gpu_used() const { return used_.load(std::memory_order_acquire); }
    /// True: a diagnostic was told that should be on the disk at once.
    bool check_watchdog() { return launches_.check_watchdog(); }

    void range_opened(uint32_t id, std::string_view name, bool process, const void* domain, uint32_t thread) {
        if (mode_.ranges()) ranges_.opened(id, name, process, domain, thread);
    }
    void range_closed(uint32_t id, uint32_t thread) {
        if (mode_.ranges()) ranges_.closed(id, thread);
    }

    void lock_for_fork();
    void unlock_for_fork();

  private:
    static void CUPTIAPI on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                                     const void* data);
    static void on_about_to_profile(const char* function);
    CuptiFailure subscribe(CuptiApi& cupti);
    CuptiFailure enable_callbacks(const CuptiApi& cupti);
    void yield(const char* function);

    void on_resource(CUpti_CallbackId cbid, const CUpti_ResourceData& data);
    void on_context_ending(CUcontext context);
    void on_enter(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data);
    void on_exit(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data);
    void enter_launch(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data);
    void exit_launch(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data);
    void write_launch(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data, ThreadState& thread,
                      const LaunchInProgress& launch);
    void write_multi_device(const CUpti_CallbackData& data, LaunchPlace place,
                            const LaunchInProgress& launch);
    void write_memory(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data);
    void on_graph(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data, bool success);

    CUcontext context_of(CUcontext current, const CallStream& stream) const;
    LaunchPlace place_of(const ContextCounters& context, const CallStream& stream, uint32_t correlation,
                         const ThreadState& thread) const;
    uint32_t correlation_of(const CUpti_CallbackData& data);

    Session& session_;
    const CountersMode mode_;
    CuptiApi cupti_;
    CallbackApi callbacks_;
    RangeProfilerApi profiler_;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    bool virtual_ground_ = false;

    LaunchRecorder recorder_;
    GraphBook graphs_;
    CaptureWatch captures_;
    CounterBook book_;
    CountedLaunches launches_;
    CountedRanges ranges_;

    std::atomic<uint32_t> last_correlation_{0};
    std::atomic<size_t> contexts_alive_{0};
    std::atomic<uint32_t> inside_{0};  ///< callbacks that are running
    std::atomic<bool> used_{false}, yielded_{false}, closed_{false};
};

}  // namespace attnscope::collector
