#pragma once
// Counters for single launches: started when the driver's launch call is entered, stopped and decoded when it
// returns. One session a launch, so a value cannot belong to a neighbour.
#include <atomic>
#include <cstdint>
#include <memory>

#include "capture_watch.h"
#include "counter_book.h"
#include "graph_book.h"

namespace attnscope::collector {

/// A launch between its call's enter and exit; one a thread. Whatever runs in between may be the driver's
/// own.
struct LaunchInProgress {
    LaunchInProgress() = default;
    LaunchInProgress(LaunchInProgress&&) = default;
    LaunchInProgress& operator=(LaunchInProgress&&) = default;
    /// The thread was ended in the middle of its launch (pthread_cancel): the others need not wait for it.
    ~LaunchInProgress() {
        if (!holds_gate || context == nullptr) return;
        context->device->counting_since_ms.store(0, std::memory_order_release);
        context->device->gate.leave();
    }

    uint64_t token = 0;  ///< 0: none; travels through CUPTI from enter to exit
    uint32_t correlation = 0, range = 0, process_range = 0;
    std::shared_ptr<ContextCounters> context;
    std::shared_ptr<const GraphContent> graph;
    size_t kernels = 1;  ///< that it is expected to run
    bool nodes_joinable = false;
    bool captured = false;  ///< becomes a node of a graph: nothing runs
    bool holds_gate = false, counted = false;
    const char* uncounted = nullptr;  ///< code of the reason
};

class CountedLaunches {
  public:
    CountedLaunches(CounterBook& book, const CaptureWatch& captures, Notices& notices,
                    const CountersMode& mode)
        : book_(book), captures_(captures), notices_(notices), mode_(mode) {}

    /// What is known of a launch about to be made, besides what its LaunchInProgress says.
    struct Launch {
        CUcontext current = nullptr;
        const char* symbol = nullptr;  ///< valid during the call only
        bool multi_device = false;
        size_t contexts = 1;  ///< alive in the process
    };
    /// May wait for another thread's launch, and for the launcher's config image.
    void enter(LaunchInProgress& launch, const Launch& facts);
    void exit(LaunchInProgress& launch, CUcontext current, bool success);

    /// By a thread that never calls CUDA. True: something was told that should reach the disk at once.
    bool check_watchdog();
    /// The program's own profiler takes over, or the session ends: no launch is counted any more.
    void stop() { stopped_.store(true, std::memory_order_seq_cst); }
    /// After stop(): waits, within limits, until no counted launch is on its way on the device.
    static bool quiet(DeviceCounters& device) { return device.gate.enter(); }

  private:
    const char* refuse(const LaunchInProgress& launch, const Launch& facts);
    const char* count(LaunchInProgress& launch, const Launch& facts);
    void finish(LaunchInProgress& launch, CUcontext current, bool success);
    void warn(const char* code, const char* message, const char* remedy) {
        notices_.diagnostic("warning", code, message, remedy);
    }

    CounterBook& book_;
    const CaptureWatch& captures_;
    Notices& notices_;
    const CountersMode& mode_;
    std::atomic<bool> stopped_{false}, tripped_{false}, collective_told_{false};
};

/// NCCL's kernels wait for those of other devices.
bool is_collective(const char* symbol);

}  // namespace attnscope::collector
