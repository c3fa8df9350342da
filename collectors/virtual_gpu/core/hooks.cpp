#include "collectors/virtual_gpu/core/hooks.h"

#include <ctime>

#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/thread.h"

namespace attnscope::vgpu {

namespace {
std::atomic<const Hooks*> installed{nullptr};
std::atomic<uint32_t> correlations{0};

uint64_t host_clock_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}
}  // namespace

void set_hooks(const Hooks* value) {
    installed.store(value, std::memory_order_release);
}

const Hooks* hooks() {
    return installed.load(std::memory_order_acquire);
}

uint32_t next_correlation() {
    // 0 means "none" to CUPTI's clients, also after the counter has gone round.
    uint32_t id = correlations.fetch_add(1, std::memory_order_relaxed) + 1;
    return id != 0 ? id : correlations.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint32_t current_correlation() {
    const ApiCall* call = thread_state().call;
    return call != nullptr ? call->correlation : next_correlation();
}

ApiScope::ApiScope(ApiDomain domain, uint32_t cbid, const char* function, const void* parameters,
                   const char* symbol)
    : call_{} {
    ThreadState& thread = thread_state();
    call_.domain = domain;
    call_.cbid = cbid;
    call_.function = function;
    call_.parameters = parameters;
    call_.symbol = symbol;
    call_.outer = thread.call;
    call_.correlation = call_.outer != nullptr ? call_.outer->correlation : next_correlation();
    thread.call = &call_;
    const Hooks* listener = hooks();
    if (listener == nullptr || listener->api_enter == nullptr) return;  // nobody asks when the call began
    if (const Context* context = current_context_or_null()) {
        call_.context = context->handle;
        call_.context_id = context->id;
    }
    call_.start_ns = host_clock_ns();
    listener->api_enter(call_);
}

ApiScope::~ApiScope() {
    if (const Hooks* listener = hooks(); listener != nullptr && listener->api_exit != nullptr) {
        // A context may have come into being during the call (lazy initialisation).
        if (const Context* context = current_context_or_null()) {
            call_.context = context->handle;
            call_.context_id = context->id;
        }
        listener->api_exit(call_);
    }
    thread_state().call = call_.outer;
}

}  // namespace attnscope::vgpu
