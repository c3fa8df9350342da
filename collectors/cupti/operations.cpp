#include "operations.h"

#include <sys/mman.h>

#include <exception>
#include <string>

#include "json_line.h"
#include "session.h"

namespace attnscope::collector {
namespace {

constexpr uint32_t kRanges = 1u << OperationBook::kRangesBits;
constexpr uint64_t kInOperation = uint64_t{1} << 63;
constexpr uint64_t mask(int bits) {
    return (uint64_t{1} << bits) - 1;
}
static_assert(OperationBook::kOperationBits + OperationBook::kCallBits + OperationBook::kRangesBits == 63);

/// Runs `body(session)` while something is recorded; nothing is thrown into LibTorch.
template <class Body>
void record(void* user, Body body) noexcept {
    try {
        auto& session = *static_cast<Session*>(user);
        if (session.recording()) body(session);
    } catch (const std::exception&) {
        // Out of memory: this one event is lost, the program goes on.
    }
}

std::vector<std::string> strings(const char* const* texts, uint32_t count) {
    return {texts, texts + count};
}

void on_operation(void* user, const AttnscopeTorchOperation* operation) {
    record(user, [operation](Session& session) {
        std::string line;
        JsonLine json(line, "operation");
        json.number("id", operation->id);
        if (operation->parent != 0) json.number("parent", operation->parent);
        json.text("name", operation->name == nullptr ? "" : operation->name);
        json.text("scope", operation->backward != 0 ? "backward" : "function");
        if (operation->forward != 0) json.number("forward", operation->forward);
        if (operation->input_count != 0)
            json.texts("inputs", strings(operation->inputs, operation->input_count));
        json.end();
        session.file().append(line);
    });
}

void on_enter(void* user, uint32_t operation, uint64_t call) {
    record(user, [=](Session& session) { session.enter_operation({operation, call}); });
}

void on_leave(void* user, uint32_t operation, uint64_t call) {
    record(user, [=](Session& session) { session.leave_operation({operation, call}); });
}

void on_choice(void* user, const AttnscopeTorchChoice* choice) {
    record(user, [choice](Session& session) {
        std::string line;
        JsonLine json(line, "attention_choice");
        json.number("op", choice->operation).text("chosen", choice->chosen);
        json.texts("order", strings(choice->order, choice->order_count));
        for (uint32_t i = 0; i < choice->backend_count; ++i) {
            const AttnscopeTorchBackend& backend = choice->backends[i];
            const std::string name = backend.name;
            json.texts("refused_" + name, strings(backend.refused, backend.refused_count));
            if (backend.removed_count != 0)
                json.texts("removed_" + name, strings(backend.removed, backend.removed_count));
            if (backend.hidden_count != 0)
                json.texts("hidden_" + name, strings(backend.hidden, backend.hidden_count));
        }
        json.end();
        session.file().append(line);
    });
}

void on_diagnostic(void* user, const char* severity, const char* code, const char* message,
                   const char* remedy) {
    record(user, [=](Session& session) { session.notices().diagnostic(severity, code, message, remedy); });
}

}  // namespace

OperationBook::OperationBook() {
    void* memory = mmap(nullptr, kRanges * sizeof *ranges_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) ranges_ = static_cast<std::atomic<uint64_t>*>(memory);
}

OperationBook::~OperationBook() {
    if (ranges_ != nullptr) munmap(ranges_, kRanges * sizeof *ranges_);
}

uint32_t OperationBook::number_ranges(uint32_t range, uint32_t process_range) {
    if ((range == 0 && process_range == 0) || ranges_ == nullptr) return 0;
    uint32_t number = 0;
    while (number == 0) number = (numbered_.fetch_add(1, std::memory_order_relaxed) + 1) % kRanges;
    ranges_[number].store(collector::external_id(range, process_range), std::memory_order_relaxed);
    return number;
}

uint64_t OperationBook::external_id(const OperationCall& operation, uint32_t ranges) {
    if (operation.call > last_call_.load(std::memory_order_relaxed))
        last_call_.store(operation.call, std::memory_order_relaxed);
    return kInOperation | uint64_t{operation.operation} << (kCallBits + kRangesBits) |
           (operation.call & mask(kCallBits)) << kRangesBits | ranges;
}

LaunchContext OperationBook::context_of(uint64_t id) const {
    if ((id & kInOperation) == 0) return ranges_of(id);
    const uint64_t number = id & mask(kRangesBits);
    LaunchContext context =
        ranges_of(number == 0 || ranges_ == nullptr ? 0 : ranges_[number].load(std::memory_order_relaxed));
    context.operation.operation =
        static_cast<uint32_t>(id >> (kCallBits + kRangesBits) & mask(kOperationBits));
    // The nearest call to the latest one that has these low bits.
    const uint64_t last = last_call_.load(std::memory_order_relaxed);
    constexpr int kAbove = 64 - kCallBits;
    const auto distance = static_cast<int64_t>(((id >> kRangesBits) - last) << kAbove) >> kAbove;
    context.operation.call = last + static_cast<uint64_t>(distance);
    return context;
}

const AttnscopeTorchSink* torch_sink(Session& session) {
    static const AttnscopeTorchSink sink{
        sizeof(AttnscopeTorchSink), 0, &session, on_operation, on_enter, on_leave, on_choice, on_diagnostic};
    return &sink;
}

}  // namespace attnscope::collector
