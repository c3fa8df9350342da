#include "operation_table.h"

namespace attnscope::libtorch {

uint32_t OperationTable::look_up(uint64_t hash) const {
    for (uint64_t at = hash;; ++at) {
        const Slot& slot = slots_[at % kSlots];
        const uint64_t held = slot.hash.load(std::memory_order_acquire);
        if (held == hash) return slot.id;
        if (held == 0) return 0;
    }
}

void OperationTable::insert(uint64_t hash, uint32_t id) {
    for (uint64_t at = hash;; ++at) {
        Slot& slot = slots_[at % kSlots];
        if (slot.hash.load(std::memory_order_relaxed) != 0) continue;
        slot.id = id;
        slot.hash.store(hash, std::memory_order_release);
        return;
    }
}

OperationTable::Found OperationTable::find(const AttnscopeTorchSink& sink, const Call& call) {
    Hash named(call.backward ? 1 : 0);
    named.add(call.parent, call.forward);
    named.add(call.name);
    InputHash inputs{named, named};
    inputs.full.add(call.settings);
    inputs.shapes.add(call.settings);
    inputs.add(call.function.inputs());
    // So that the three can never meet.
    inputs.full.add(1);
    inputs.shapes.add(2);
    if (const uint32_t id = look_up(inputs.full.value())) return {id, false};
    if (const uint32_t id = look_up(inputs.shapes.value())) return {id, false};
    if (const uint32_t id = look_up(named.value())) return {id, false};
    return add(sink, call, inputs, named.value());
}

OperationTable::Found OperationTable::add(const AttnscopeTorchSink& sink, const Call& call,
                                          const InputHash& inputs, uint64_t by_name) {
    const std::lock_guard lock(mutex_);
    const uint64_t full = inputs.full.value(), shapes = inputs.shapes.value();
    for (const uint64_t hash : {full, shapes, by_name})
        if (const uint32_t id = look_up(hash)) return {id, false};  // another thread was quicker
    const char* name = call.function.name();
    if (last_ < kWithInputs) {
        if (variants_ == nullptr) variants_ = new std::unordered_map<uint64_t, uint32_t>();
        const bool numbers = ++(*variants_)[shapes] <= kVariants;
        const uint32_t id = tell(sink, call, name, describe(call.function.inputs(), numbers));
        insert(numbers ? full : shapes, id);
        return {id, true};
    }
    tell_full(sink);
    if (last_ < kWithInputs + kByName) {
        const uint32_t id = tell(sink, call, name, {});
        insert(by_name, id);
        return {id, false};
    }
    if (other_ == 0) {
        const at::RecordFunction none;
        other_ = tell(sink, {none, 0, 0, 0, 0, false}, "other", {});
    }
    return {other_, false};
}

uint32_t OperationTable::tell(const AttnscopeTorchSink& sink, const Call& call, const char* name,
                              const std::vector<std::string>& inputs) {
    std::vector<const char*> texts;
    for (const std::string& input : inputs) texts.push_back(input.c_str());
    AttnscopeTorchOperation operation{};
    operation.size = sizeof operation;
    operation.id = ++last_;
    operation.parent = call.parent;
    operation.forward = call.forward;
    operation.backward = call.backward ? 1 : 0;
    operation.name = name;
    operation.inputs = texts.data();
    operation.input_count = static_cast<uint32_t>(texts.size());
    sink.operation(sink.user, &operation);
    return last_;
}

void OperationTable::tell_full(const AttnscopeTorchSink& sink) {
    if (std::exchange(full_told_, true)) return;
    sink.diagnostic(
        sink.user, "warning", "operations-many",
        "the program called more than 65,536 different operations: further ones are told apart by "
        "their names alone, without inputs",
        "record a shorter part of the program");
}

}  // namespace attnscope::libtorch
