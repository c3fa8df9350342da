#pragma once
// One recording: from InitializeInjection to the program's exit. There is at most one in a process, and it is
// never destroyed, because CUPTI's threads may still call while the program's static objects are torn down.
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../virtual_gpu/observer.h"
#include "buffers.h"
#include "counters_collection.h"
#include "cupti_api.h"
#include "environment.h"
#include "joiner.h"
#include "notices.h"
#include "operations.h"
#include "ranges.h"
#include "run_file.h"
#include "wake.h"

namespace attnscope::collector {

/// A range that a thread has pushed, or an operation of LibTorch that it is in; with each what else is
/// innermost there.
struct ThreadItem {
    uint32_t range = 0;            ///< of the thread; 0: none
    uint32_t process_range = 0;    ///< innermost when that range was pushed, 0 when none
    const void* domain = nullptr;  ///< of a range: NVTX keeps one stack for each domain
    OperationCall operation;
    bool is_range = false;
};

/// What a thread has open, and how much of it CUPTI was told.
struct ThreadState {
    std::vector<ThreadItem> open;
    size_t pushed = 0;
    uint32_t numbered_range = 0, numbered_process_range = 0, ranges_number = 0;  ///< OperationBook's
    uint32_t thread = 0;
    OperationCall operation() const { return open.empty() ? OperationCall{} : open.back().operation; }
    LaunchInProgress launch;  ///< counters collection: between the enter and the exit of its call
    uint64_t launches = 0;
};

class Session {
  public:
    /// nullptr when ATTNSCOPE_RUN_DIR is not set, and in a child forked from a recorded process.
    static Session* get();

    /// In cuInit, on the program's thread. A second call does nothing.
    void start();
    bool started() const { return started_.load(std::memory_order_acquire); }
    /// At exit: takes what CUPTI still holds, writes the end, waits for both within limits.
    void finish();
    /// False once the program is exiting: nothing more is recorded.
    bool recording() const { return !ended_.load(std::memory_order_acquire); }

    RangeBook& ranges() { return ranges_; }
    RunFile& file() { return file_; }
    Notices& notices() { return notices_; }
    ThreadState& this_thread();
    uint64_t now_ns() const;
    void count_library_call() { library_calls_.fetch_add(1, std::memory_order_relaxed); }

    /// Tells CUPTI of what this thread opened before CUPTI was there.
    void tell_open(ThreadState& state);
    /// The innermost open range of the calling thread, else of the process; 0 when none.
    uint32_t current_range(const ThreadState& state) const {
        return state.open.empty() || state.open.back().range == 0 ? ranges_.innermost()
                                                                  : state.open.back().range;
    }
    /// The innermost process range, where the calling thread is in a range of its own that was opened before
    /// it; else 0.
    uint32_t outer_process_range(const ThreadState& state) const {
        const uint32_t process_range = ranges_.innermost();
        return state.open.empty() || state.open.back().range == 0 ||
                       state.open.back().process_range == process_range
                   ? 0
                   : process_range;
    }
    void push_range(ThreadState& state, uint32_t range, uint32_t process_range, const void* domain);
    void enter_operation(const OperationCall& operation);
    void leave_operation(const OperationCall& operation);
    /// Removes one item; CUPTI's stack is taken down to it and built up again.
    void remove(ThreadState& state, size_t index);

    /// nullptr: an activity collection.
    CountersCollection* counters() { return counters_.load(std::memory_order_acquire); }

    uint8_t* give_buffer(size_t& size);
    void take_buffer(uint8_t* buffer, size_t valid);
    /// True on the collector's own threads: what a virtual GPU says of their calls is not the program's.
    bool is_own_thread() const { return pthread_equal(pthread_self(), flush_thread_.load()) != 0; }

    void lock_for_fork();
    void unlock_for_fork();

  private:
    Session() : joiner_(ranges_, {}, &operations_) {}
    static Session* create();
    void find_ground();
    void start_activity();
    void start_counters(const CountersMode& mode, const std::string& stem);
    bool gpu_used() const;
    uint64_t external_id_of(ThreadState& state, const ThreadItem& item);
    void start_threads();

    // flush_loop.cpp: asks CUPTI for what is complete, so that a killed program leaves its data
    static void* flush_main(void* session);
    void flush_loop();
    void flush_cupti(uint32_t flags);
    void describe_environment();
    void warn_of_another_runtime();
    void probe();
    void judge_probe(bool last);

    // write_loop.cpp: reads the completed buffers and writes the lines
    static void* write_main(void* session);
    void write_loop();
    void write_round(bool last);
    void write_end();

    std::string directory_;
    ProcessFacts facts_;
    RangeBook ranges_;
    OperationBook operations_;
    TorchExtension torch_;
    RunFile file_;
    Notices notices_;
    BufferPool pool_;
    CuptiApi cupti_;
    Joiner joiner_;
    std::atomic<CountersCollection*> counters_{nullptr};  ///< never destroyed, as the session itself
    AttnscopeVgpuDeviceIdFn device_id_ = nullptr;
    pthread_key_t thread_key_{};
    std::atomic<pthread_t> flush_thread_{};

    std::atomic<bool> started_{false}, ended_{false}, cupti_on_{false}, initialised_{false};
    std::atomic<bool> stop_flush_{false}, flushed_{false}, stop_write_{false}, written_{false};
    std::atomic<bool> in_round_{false};  ///< the write thread has buffers that it has not read yet
    std::atomic<uint64_t> library_calls_{0}, dropped_{0}, probes_seen_{0}, launches_seen_{0};
    Signal wake_flush_, flush_done_, write_done_, round_done_;

    // Of the flush thread alone.
    std::set<std::string> libraries_told_;
    bool devices_told_ = false, other_runtime_told_ = false, taken_over_ = false, probe_pending_ = false;
    uint64_t probes_sent_ = 0, probes_seen_before_ = 0, launches_before_probe_ = 0, probe_time_ms_ = 0;

    // Of the write thread alone.
    std::vector<BufferPool::Completed> completed_;
    std::string text_;
};

}  // namespace attnscope::collector
