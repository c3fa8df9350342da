#include "session.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>

#include "loaded.h"
#include "observer.h"
#include "platform.h"

namespace attnscope::collector {
namespace {

Session* g_session = nullptr;
bool g_forked_child = false;

uint64_t realtime_ns() {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

/// CUPTI calls back into C: nothing may be thrown out of these.
void on_buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
    *max_records = 0;
    *size = 0;
    *buffer = nullptr;
    if (Session* session = Session::get()) *buffer = session->give_buffer(*size);
}

void on_buffer_completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    if (Session* session = Session::get()) session->take_buffer(buffer, valid);
}

}  // namespace

/// A forked child inherits neither CUPTI's worker nor our threads: it does nothing. A child of a process in
/// which CUDA was not yet initialised starts afresh.
void before_fork() {
    if (g_session != nullptr) g_session->lock_for_fork();
}
void after_fork_in_parent() {
    if (g_session != nullptr) g_session->unlock_for_fork();
}
void after_fork_in_child() {
    if (g_session == nullptr) return;
    g_session->unlock_for_fork();
    if (g_session->started()) g_forked_child = true;
}

void at_exit() {
    if (Session* session = Session::get()) session->finish();
}

Session* Session::get() {
    if (g_forked_child) return nullptr;
    static Session* const created = create();
    return created;
}

Session* Session::create() {
    const char* directory = std::getenv("ATTNSCOPE_RUN_DIR");
    if (directory == nullptr || directory[0] != '/') return nullptr;
    try {
        auto* session = new Session();
        session->directory_ = directory;
        if (pthread_key_create(&session->thread_key_,
                               [](void* state) { delete static_cast<ThreadState*>(state); }) != 0)
            return nullptr;
        g_session = session;
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        return session;
    } catch (const std::exception&) {
        return nullptr;
    }
}

void Session::lock_for_fork() {
    if (CountersCollection* c = counters()) c->lock_for_fork();  // it writes to the file under its own lock
    ranges_.lock_for_fork();
    file_.lock_for_fork();
    notices_.lock_for_fork();
    pool_.lock_for_fork();
}

void Session::unlock_for_fork() {
    pool_.unlock_for_fork();
    notices_.unlock_for_fork();
    file_.unlock_for_fork();
    ranges_.unlock_for_fork();
    if (CountersCollection* c = counters()) c->unlock_for_fork();
}

uint8_t* Session::give_buffer(size_t& size) {
    if (!recording() && cupti_.may_decline_buffers()) return nullptr;  // nobody reads it any more
    return pool_.request(size, cupti_.may_decline_buffers());
}
void Session::take_buffer(uint8_t* buffer, size_t valid) {
    pool_.complete(buffer, valid);
}

void Session::start() {
    if (started_.exchange(true)) return;
    facts_.host = host_name();
    facts_.start_unix_ns = realtime_ns();
    const std::string stem =
        facts_.host + '-' + std::to_string(getpid()) + '-' + std::to_string(facts_.start_unix_ns);
    if (!file_.create(directory_ + '/' + stem + ".jsonl")) {
        ended_ = true;  // the launcher sees that there is no file
        return;
    }
    find_ground();
    const CountersMode mode = counters_mode();
    if (mode.on())
        start_counters(mode, stem);
    else
        start_activity();
    torch_.try_start(*this);
    start_threads();
    std::atexit(at_exit);
    initialised_.store(true, std::memory_order_release);
    wake_flush_.raise();
}

void Session::start_activity() {
    const CuptiFailure failure =
        start_cupti(cupti_, std::getenv("ATTNSCOPE_CUPTI"), on_buffer_requested, on_buffer_completed);
    if (failure.code != nullptr) {
        notices_.diagnostic("error", failure.code, failure.message, failure.remedy);
    } else {
        facts_.cupti = cupti_.version;
        cupti_on_.store(true, std::memory_order_release);
        tell_open(this_thread());
    }
}

void Session::start_counters(const CountersMode& mode, const std::string& stem) {
    facts_.counters = true;
    auto* counters = new CountersCollection(*this, mode);
    const CuptiFailure failure =
        counters->start(std::getenv("ATTNSCOPE_CUPTI"), directory_, stem, facts_.virtual_ground);
    if (failure.code != nullptr) notices_.diagnostic("error", failure.code, failure.message, failure.remedy);
    facts_.cupti = counters->cupti().version;
    counters_.store(counters, std::memory_order_release);
}

void Session::find_ground() {
    auto* set_observer =
        find_function<int(const AttnscopeVgpuObserver*)>("libcuda.so.1", "attnscopeVgpuSetObserver");
    facts_.virtual_ground = set_observer != nullptr;
    joiner_.set_times(!facts_.virtual_ground);
    if (set_observer == nullptr) return;
    device_id_ = find_function<const char*(int32_t)>("libcuda.so.1", "attnscopeVgpuDeviceId");
    set_observer(virtual_gpu_observer());
}

void Session::start_threads() {
    const bool flush = start_thread("attnscope-flush", flush_main, this);
    const bool write = start_thread("attnscope-write", write_main, this);
    if (!flush) flushed_ = true;
    if (!write) {
        ended_ = true;  // nothing would ever leave the process
        written_ = true;
    }
}

ThreadState& Session::this_thread() {
    auto* state = static_cast<ThreadState*>(pthread_getspecific(thread_key_));
    if (state == nullptr) {
        state = new ThreadState();
        state->thread = static_cast<uint32_t>(syscall(SYS_gettid));
        pthread_setspecific(thread_key_, state);
    }
    return *state;
}

/// The clock of CUPTI's records: realtime unless CUPTI says otherwise.
uint64_t Session::now_ns() const {
    uint64_t time = 0;
    if (cupti_on_.load(std::memory_order_acquire) && cupti_.get_timestamp != nullptr &&
        cupti_.get_timestamp(&time) == CUPTI_SUCCESS && time != 0)
        return time;
    return realtime_ns();
}

void Session::tell_open(ThreadState& state) {
    if (!cupti_on_.load(std::memory_order_acquire) || cupti_.push_external_correlation_id == nullptr) return;
    for (; state.pushed < state.open.size(); ++state.pushed)
        if (cupti_.push_external_correlation_id(
                kRangeKind, external_id_of(state, state.open[state.pushed])) != CUPTI_SUCCESS)
            break;
}

uint64_t Session::external_id_of(ThreadState& state, const ThreadItem& item) {
    if (item.operation.operation == 0) return external_id(item.range, item.process_range);
    if (item.range != state.numbered_range || item.process_range != state.numbered_process_range) {
        state.ranges_number = operations_.number_ranges(item.range, item.process_range);
        state.numbered_range = item.range;
        state.numbered_process_range = item.process_range;
    }
    return operations_.external_id(item.operation, state.ranges_number);
}

void Session::push_range(ThreadState& state, uint32_t range, uint32_t process_range, const void* domain) {
    state.open.push_back({range, process_range, domain, state.operation(), true});
    tell_open(state);
}

void Session::enter_operation(const OperationCall& operation) {
    ThreadState& state = this_thread();
    ThreadItem item = state.open.empty() ? ThreadItem{} : state.open.back();
    item.operation = operation;
    item.is_range = false;
    state.open.push_back(item);
    tell_open(state);
}

void Session::leave_operation(const OperationCall& operation) {
    ThreadState& state = this_thread();
    for (size_t i = state.open.size(); i-- > 0;) {
        const ThreadItem& item = state.open[i];
        if (item.is_range || item.operation.operation != operation.operation ||
            item.operation.call != operation.call)
            continue;
        return remove(state, i);
    }
}

void Session::remove(ThreadState& state, size_t index) {
    while (state.pushed > index) {
        uint64_t popped = 0;
        if (cupti_.pop_external_correlation_id != nullptr)
            cupti_.pop_external_correlation_id(kRangeKind, &popped);
        --state.pushed;
    }
    state.open.erase(state.open.begin() + static_cast<ptrdiff_t>(index));
    for (size_t i = index; i < state.open.size(); ++i) {
        const ThreadItem below = i == 0 ? ThreadItem{} : state.open[i - 1];
        ThreadItem& item = state.open[i];
        if (item.is_range) {
            item.operation = below.operation;
        } else {
            item.range = below.range;
            item.process_range = below.process_range;
        }
    }
    tell_open(state);
}

/// At the program's exit. CUDA's own handlers may have run before or may run later, so nothing here waits
/// without a limit.
void Session::finish() {
    constexpr uint32_t kFlushMs = 5000, kWriteMs = 30000;
    if (!started_ || !initialised_ || written_) return;
    stop_flush_ = true;
    wake_flush_.raise();
    // The limits are for what stands still: on a busy machine buffers still come and are written.
    const auto wait_for = [this](const std::atomic<bool>& done, Signal& signal, uint32_t limit) {
        const auto progress = [this] { return uint64_t{pool_.arrived().state()} + round_done_.state(); };
        uint64_t last = progress(), since = monotonic_ms();
        while (!done && monotonic_ms() - since < limit) {
            const uint32_t seen = signal.state();
            if (!done) signal.wait(seen, 100);
            if (const uint64_t now = progress(); now != last) {
                last = now;
                since = monotonic_ms();
            }
        }
        return done.load();
    };
    if (!wait_for(flushed_, flush_done_, kFlushMs))
        notices_.diagnostic("data_loss", "exit-flush-timeout",
                            "CUPTI stopped handing over its last records for 5 seconds at the program's exit",
                            "synchronise (cudaDeviceSynchronize) before the program ends");
    stop_write_ = true;
    pool_.arrived().raise();
    wait_for(written_, write_done_, kWriteMs);
    ended_.store(true, std::memory_order_release);
}

}  // namespace attnscope::collector
