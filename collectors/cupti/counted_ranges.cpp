#include "counted_ranges.h"

#include "driver_functions.h"
#include "function_attributes.h"

namespace attnscope::collector {
namespace {

CUcontext current_context() {
    const OwnCall own;
    CUcontext context = nullptr;
    auto* get = driver_functions().context_get_current;
    return get != nullptr && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

constexpr const char* kCaptured = "ranges that begin or end while a stream is captured have no counters";
constexpr const char* kCapturedRemedy = "let the range begin before the capture and end after it";

}  // namespace

bool CountedRanges::wanted(std::string_view name, bool process, const void* domain) const {
    return mode_.unit == CountedUnit::nvtx || (mode_.unit == CountedUnit::implementation && process &&
                                               domain == nullptr && name == "attnscope.iteration");
}

void CountedRanges::opened(uint32_t id, std::string_view name, bool process, const void* domain,
                           uint32_t thread) {
    if (!wanted(name, process, domain) || stopped_.load(std::memory_order_seq_cst)) return;
    Phase expected = Phase::idle;
    if (!phase_.compare_exchange_strong(expected, Phase::busy)) {
        if (mode_.unit == CountedUnit::implementation)
            warn("counters-contended", "ranges that began inside another counted range have no counters",
                 "run one iteration at a time");
        return;
    }
    phase_.store(open(id, name, thread) ? Phase::open : Phase::idle, std::memory_order_release);
}

bool CountedRanges::open(uint32_t id, std::string_view name, uint32_t thread) {
    const CUcontext current = current_context();
    if (current == nullptr) {
        warn("counters-failed", "ranges that began before the thread had a CUDA context have no counters",
             "use CUDA once before the range begins", "info");
        return false;
    }
    context_ = book_.find(current, 0);
    if (context_ == nullptr || context_->why_off() != nullptr) return false;
    LaunchGate& gate = context_->device->gate;
    if (!gate.enter()) return false;
    bool started = false;
    if (captures_.any()) {
        warn("counters-captured", kCaptured, kCapturedRemedy);
    } else if (book_.make_ready(*context_, current) == nullptr) {
        const OwnCall own;
        name_ = name.empty() ? std::string("range") : std::string(name);
        const CuptiFailure failure = context_->session->start(1, name_.c_str());
        started = failure.code == nullptr;
        if (!started) book_.fail(*context_, failure, current);
    }
    gate.leave();
    if (!started) return false;
    id_.store(id, std::memory_order_relaxed);
    thread_ = thread;
    open_context_.store(current, std::memory_order_relaxed);
    elsewhere_.store(false, std::memory_order_relaxed);
    return true;
}

void CountedRanges::closed(uint32_t id, uint32_t thread) {
    Phase expected = Phase::open;
    if (phase_.load(std::memory_order_acquire) != Phase::open || id_.load(std::memory_order_relaxed) != id ||
        !phase_.compare_exchange_strong(expected, Phase::busy))
        return;
    close(id, thread);
    phase_.store(Phase::idle, std::memory_order_release);
}

void CountedRanges::close(uint32_t id, uint32_t thread) {
    const CUcontext current = current_context();
    ContextCounters& context = *context_;
    if (captures_.any()) {  // left as it is; the next range ends it first
        warn("counters-captured", kCaptured, kCapturedRemedy);
        return;
    }
    LaunchGate& gate = context.device->gate;
    if (!gate.enter()) return;
    if (context.session->started()) {
        const OwnCall own;
        const CurrentContext made_current(context.handle, current);
        CounterSession::Counted counted;
        const CuptiFailure failure = context.session->stop(counted);
        if (failure.code != nullptr) {
            book_.fail(context, failure, context.handle);
        } else if (thread != thread_) {
            warn("counters-failed", "ranges that ended on another thread than they began on have no counters",
                 "begin and end the range on one thread");
        } else if (elsewhere_.load(std::memory_order_relaxed)) {
            warn(
                "counters-failed",
                "ranges with launches on another device or context than they began on have no counters: only "
                "a part would be counted",
                "give each device a process of its own (torchrun), or count kernels (--range kernel)");
        } else {
            if (counted.dropped != 0)
                notices_.diagnostic("data_loss", "counters-dropped", "CUPTI dropped counted ranges",
                                    "count fewer metrics", counted.dropped);
            DataHeader header{};
            header.of = DataOf::range;
            header.id = id;
            header.dropped = static_cast<uint32_t>(counted.dropped);
            book_.write(context, header, context.handle);
        }
    }
    gate.leave();
}

void CountedRanges::give_up(CUcontext context) {
    Phase expected = Phase::open;
    if (phase_.load(std::memory_order_acquire) != Phase::open ||
        (context != nullptr && open_context_.load(std::memory_order_relaxed) != context) ||
        !phase_.compare_exchange_strong(expected, Phase::busy))
        return;
    if (context != nullptr)
        warn("counters-failed", "ranges that were open when their CUDA context ended have no counters",
             "end the range before the context");
    phase_.store(Phase::idle, std::memory_order_release);
}

}  // namespace attnscope::collector
