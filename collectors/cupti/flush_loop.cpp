// The flush thread: hands over what is complete, describes the process, and watches that records still
// arrive.
#include <exception>

#include "loaded.h"
#include "platform.h"
#include "session.h"
#include "subscriber_watch.h"

namespace attnscope::collector {
namespace {
constexpr uint32_t kFlushMs = 200, kProbeMs = 2000, kLibrariesMs = 5000;
}

void* Session::flush_main(void* session) {
    auto* self = static_cast<Session*>(session);
    self->flush_thread_ = pthread_self();
    try {
        self->flush_loop();
    } catch (const std::exception&) {
        // Out of memory: the write thread still ends the file.
    }
    self->flushed_ = true;
    self->flush_done_.raise();
    return nullptr;
}

void Session::flush_loop() {
    // No CUDA call before cuInit's injection has returned: the driver is in the middle of it.
    while (!initialised_ && !stop_flush_) {
        const uint32_t seen = wake_flush_.state();
        if (!initialised_ && !stop_flush_) wake_flush_.wait(seen, 100);
    }
    file_.set_first_line(describe_process(facts_, ask_versions()));
    uint64_t described = 0, probed = monotonic_ms();
    while (!stop_flush_) {
        const uint32_t seen = wake_flush_.state();
        if (!stop_flush_) wake_flush_.wait(seen, kFlushMs);
        const uint64_t now = monotonic_ms();
        torch_.try_start(*this);
        if (counters() != nullptr) rescan_subscriber_watch();
        if (gpu_used() && (described == 0 || now - described > kLibrariesMs)) {
            describe_environment();
            described = now;
        }
        const bool first = pool_.requests() != 0 && probes_sent_ == 0;
        if (first || now - probed >= kProbeMs) {
            judge_probe(false);
            probe();
            probed = now;
        }
        if (pool_.outstanding() != 0) flush_cupti(0);
    }
    // The last time. A program that never used the GPU must not be flushed: CUPTI has been seen to hang.
    describe_environment();
    // A probe that was answered speaks for the time before it: the end needs one of its own.
    if (probe_pending_ && probes_seen_ != probes_seen_before_) probe_pending_ = false;
    if (!taken_over_ && !probe_pending_) probe();
    if (pool_.requests() != 0) flush_cupti(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    judge_probe(true);
}

bool Session::gpu_used() const {
    const CountersCollection* c = counters_.load(std::memory_order_acquire);
    return c != nullptr ? c->gpu_used() : pool_.requests() != 0;
}

void Session::flush_cupti(uint32_t flags) {
    if (!cupti_on_ || taken_over_) return;
    cupti_.flush_all(flags);
    size_t dropped = 0;
    if (cupti_.get_num_dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS)
        dropped_.fetch_add(dropped, std::memory_order_relaxed);
}

void Session::describe_environment() {
    std::string lines;
    if (!devices_told_) {
        lines = describe_devices(device_id_);
        devices_told_ = !lines.empty();
    }
    lines += describe_libraries(libraries_told_);
    if (facts_.virtual_ground) warn_of_another_runtime();
    file_.append(lines);
}

/// The virtual GPU carries CUDA 13 alone: what a program does through another runtime is neither emulated nor
/// recorded.
void Session::warn_of_another_runtime() {
    for (const std::string& path : loaded_libraries()) {
        const std::string file = path.substr(path.find_last_of('/') + 1);
        if (other_runtime_told_ || file.compare(0, 13, "libcudart.so.") != 0 ||
            file.compare(13, 2, "13") == 0)
            continue;
        other_runtime_told_ = true;
        notices_.diagnostic("error", "other-cuda-runtime",
                            path + " is loaded, but the virtual GPU serves CUDA 13 alone",
                            "use a build for CUDA 13, or a real GPU with --device real");
    }
}

/// A call of our own whose record must come back. Another client that registers its callbacks takes all
/// records over, and CUPTI tells nobody.
void Session::probe() {
    if (!cupti_on_ || taken_over_) return;
    auto* get = find_function<int(int*)>("libcuda.so.1", "cuDriverGetVersion");
    int version = 0;
    probes_seen_before_ = probes_seen_;
    launches_before_probe_ = launches_seen_;
    joiner_.set_probe_thread(static_cast<uint32_t>(this_thread().thread));
    probe_pending_ = get != nullptr && get(&version) == 0;
    if (!probe_pending_) return;
    ++probes_sent_;
    probe_time_ms_ = monotonic_ms();
}

void Session::judge_probe(bool last) {
    if (!probe_pending_ || taken_over_) return;
    if (last) {  // the write thread may still be at it: the limit is for one that stands still
        uint64_t start = monotonic_ms(), launches = launches_seen_;
        while (probes_seen_ == probes_seen_before_ && monotonic_ms() - start < 500) {
            const uint32_t seen = round_done_.state();
            if (probes_seen_ == probes_seen_before_) round_done_.wait(seen, 50);
            if (pool_.outstanding() == 0 && pool_.idle() && !in_round_) break;
            if (const uint64_t now = launches_seen_; now != launches) {
                launches = now;
                start = monotonic_ms();
            }
        }
    }
    probe_pending_ = false;
    if (probes_seen_ != probes_seen_before_) return;
    // Records still come, the probe's may be behind them: the next one tells.
    if (!last && launches_seen_ != launches_before_probe_) return;
    // Without one sign of life before, and with launches recorded, this CUPTI does not record the probe: no
    // judgement.
    if (probes_seen_ == 0 && launches_seen_ != 0) return;
    taken_over_ = true;
    notices_.diagnostic("data_loss", "records-taken-over",
                        "CUPTI stopped giving its records to attnscope: the program's own profiler "
                        "(torch.profiler, for one) took them over, and what "
                        "was launched from then on is not recorded",
                        "run the program without its profiler, or use the profiler's own trace");
}

}  // namespace attnscope::collector
