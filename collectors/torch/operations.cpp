#include "operations.h"

#include <ATen/record_function.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "attention_call.h"
#include "forward_book.h"
#include "operation_table.h"
#include "quiet_operations.h"

namespace attnscope::libtorch {
namespace {

// LibTorch may run operations while a thread's objects, or the program's static ones, are torn down: nothing
// here has a destructor.
struct Frame {
    const at::RecordFunction* function;
    uint32_t operation;
};
struct ThreadStack {
    static constexpr uint32_t kDepth = 128;
    uint32_t depth, beyond;  ///< beyond: operations that found no room, inside the others
    uint64_t call;
    Frame frames[kDepth];
};
thread_local constinit ThreadStack t_stack{};

constinit OperationTable g_table;
constinit ForwardBook g_forward;
constinit const QuietOperations* g_quiet = nullptr;
constinit std::atomic<uint64_t> g_calls{0};
constinit std::atomic<bool> g_off{false};  ///< in a forked child, whose collector does nothing
AttnscopeTorchSink g_sink{};

void begin(const at::RecordFunction& function) {
    ThreadStack& stack = t_stack;
    if (stack.depth == ThreadStack::kDepth) {
        ++stack.beyond;
        return;
    }
    const bool backward = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
    const uint64_t name = name_hash(function.name());
    // Where autograd follows them their derivatives, which may launch, name them.
    if (!backward && function.seqNr() < 0 && g_quiet->has(name)) return;
    const uint32_t parent = stack.depth == 0 ? 0 : stack.frames[stack.depth - 1].operation;
    const uint32_t forward = backward ? g_forward.get(function.forwardThreadId(), function.seqNr()) : 0;
    const AttentionCall attention(function);
    const OperationTable::Found found =
        g_table.find(g_sink, {function, name, parent, forward, attention.settings(), backward});
    if (!backward && function.seqNr() >= 0) g_forward.put(function.threadId(), function.seqNr(), found.id);
    if (stack.depth == 0) stack.call = g_calls.fetch_add(1, std::memory_order_relaxed) + 1;
    stack.frames[stack.depth++] = {&function, found.id};
    g_sink.enter(g_sink.user, found.id, stack.call);
    if (found.fresh && attention.is_one()) attention.tell_choice(g_sink, found.id);
}

void end(const at::RecordFunction& function) {
    ThreadStack& stack = t_stack;
    if (stack.beyond != 0) {
        --stack.beyond;
        return;
    }
    // Nearly always the last one. One that began before the callback was there is not among them.
    for (uint32_t i = stack.depth; i-- > 0;) {
        if (stack.frames[i].function != &function) continue;
        const uint32_t operation = stack.frames[i].operation;
        std::copy(stack.frames + i + 1, stack.frames + stack.depth, stack.frames + i);
        --stack.depth;
        return g_sink.leave(g_sink.user, operation, stack.call);
    }
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
    if (!g_off.load(std::memory_order_relaxed)) {
        try {
            begin(function);
        } catch (...) {
            // Out of memory, or inputs that cannot be looked at: the program goes on.
        }
    }
    return nullptr;
}

void on_end(const at::RecordFunction& function, at::ObserverContext*) {
    if (!g_off.load(std::memory_order_relaxed)) end(function);
}

}  // namespace

void follow_operations(const AttnscopeTorchSink& sink) {
    g_sink = sink;
    g_quiet = new QuietOperations();  // for as long as the process lives
    pthread_atfork(nullptr, nullptr, [] { g_off = true; });
    at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                              .needsInputs(true)
                              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

}  // namespace attnscope::libtorch
