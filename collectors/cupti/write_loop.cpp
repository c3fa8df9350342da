// The write thread: completed buffers become lines.
#include <exception>

#include "json_line.h"
#include "session.h"

namespace attnscope::collector {
namespace {
constexpr uint32_t kIdleMs = 200, kNoticesMs = 1000, kFirstLineMs = 3000;
}

void* Session::write_main(void* session) {
    auto* self = static_cast<Session*>(session);
    try {
        self->write_loop();
    } catch (const std::exception&) {
        self->ended_ = true;  // out of memory: the file ends here, and says so by having no end
    }
    self->file_.flush();
    self->written_ = true;
    self->write_done_.raise();
    return nullptr;
}

void Session::write_loop() {
    const uint64_t start = monotonic_ms();
    uint64_t noticed = start;
    while (!stop_write_) {
        const uint32_t seen = pool_.arrived().state();
        write_round(false);
        CountersCollection* const counters = this->counters();
        const bool urgent = counters != nullptr && counters->check_watchdog();
        const uint64_t now = monotonic_ms();
        // The flush thread may hang in a library that it asked for its version: the run must not wait for it.
        if (!file_.has_first_line() && initialised_ && now - start > kFirstLineMs)
            file_.set_first_line(describe_process(facts_, {}));
        if (urgent || now - noticed >= kNoticesMs) {
            std::string lines;
            notices_.take(lines);
            file_.append(lines);
            noticed = now;
        }
        file_.flush();
        if (!stop_write_) pool_.arrived().wait(seen, kIdleMs);
    }
    if (!file_.has_first_line()) file_.set_first_line(describe_process(facts_, {}));
    write_round(true);
    write_end();
}

void Session::write_round(bool last) {
    in_round_ = true;  // before the pool looks idle
    pool_.take(completed_);
    if (completed_.empty() && !last && joiner_.nothing_waits()) {
        in_round_ = false;
        return;
    }
    const Joiner::Counts& counts = joiner_.counts();
    for (const BufferPool::Completed& buffer : completed_) {
        read_buffer(joiner_, cupti_.get_next_record, buffer.data, buffer.valid);
        launches_seen_ = counts.kernels + counts.memcpys + counts.memsets;
        probes_seen_ = joiner_.probes_seen();
        pool_.recycle(buffer.data);
        joiner_.settle(text_, false);
        // On a busy machine the launches may come before the flush thread has described the process: a first
        // line that knows less is better than launches that find no room.
        if (file_.crowded()) file_.set_first_line(describe_process(facts_, {}));
        file_.append(text_);
        text_.clear();
    }
    if (completed_.empty() || last) {
        joiner_.settle(text_, last);
        file_.append(text_);
        text_.clear();
    }
    in_round_ = false;
    round_done_.raise();
}

void Session::write_end() {
    const Joiner::Counts& counts = joiner_.counts();
    if (dropped_ != 0)
        notices_.diagnostic(
            "data_loss", "records-dropped", "CUPTI dropped records because no buffer was free in time",
            "write the run to a faster disk, or record a shorter part of the program", dropped_);
    if (file_.lost() != 0)
        notices_.diagnostic("data_loss", "lines-lost", "lines could not be written",
                            "check the disk that holds the run", file_.lost());
    if (counts.without_api_record != 0)
        notices_.diagnostic(
            "warning", "launches-without-thread",
            "launches came without the API call that made them: their thread and range are not known", "",
            counts.without_api_record);
    if (counts.invalid_times != 0)
        notices_.diagnostic("warning", "invalid-times",
                            "CUPTI gave launches that end before they start: their times are left out", "",
                            counts.invalid_times);
    if (counts.failed_launches != 0)
        notices_.diagnostic("error", "launch-failed",
                            "calls that were to launch answered an error (the first: CUDA error " +
                                std::to_string(counts.first_failure) + "): their kernels did not run",
                            "check what each launch answers, or cudaGetLastError after it",
                            counts.failed_launches);
    std::string lines;
    notices_.take(lines);
    const LaunchRecorder::Counts* seen = counters() == nullptr ? nullptr : &counters()->counts();
    JsonLine(lines, "end")
        .number("kernels", seen != nullptr ? seen->kernels.load() : counts.kernels)
        .number("memcpys", seen != nullptr ? seen->memcpys.load() : counts.memcpys)
        .number("memsets", seen != nullptr ? seen->memsets.load() : counts.memsets)
        .number("library_calls", library_calls_.load())
        .number("dropped", dropped_.load())
        .end();
    file_.append(lines);
}

}  // namespace attnscope::collector
