#include "timeline.h"

#include <algorithm>

namespace attnscope::importer {

uint32_t Texts::add(std::string_view text, bool* fresh) {
    const auto found = index_.find(text);
    if (fresh) *fresh = found == index_.end();
    if (found != index_.end()) return found->second;
    const auto at = static_cast<uint32_t>(texts_.size());
    texts_.push_back(&index_.emplace(text, at).first->first);
    return at;
}

std::vector<std::string> Texts::take() const {
    std::vector<std::string> out;
    out.reserve(texts_.size());
    for (const std::string* text : texts_) out.push_back(*text);
    return out;
}

bool is_backward(std::string_view operation) {
    if (operation.starts_with("autograd::engine::")) return true;
    while (!operation.empty() && operation.back() >= '0' && operation.back() <= '9')
        operation.remove_suffix(1);
    return operation.ends_with("Backward");
}

void HostTimeline::operation(uint64_t thread, int64_t start, int64_t end, std::string_view name,
                             uint32_t list, std::optional<uint64_t> external) {
    items_.push_back({start, end, thread, static_cast<uint32_t>(operations_.size()), Kind::operation});
    operations_.push_back(
        {names_.add(name), list, kNone, kNone, 0, external.value_or(UINT64_MAX), start, end, thread});
}

void HostTimeline::annotation(uint64_t thread, int64_t start, int64_t end, std::string name) {
    items_.push_back({start, end, thread, static_cast<uint32_t>(annotations_.size()), Kind::annotation});
    annotations_.push_back({std::move(name), start, end, kNone});
}

void HostTimeline::call(uint64_t thread, int64_t start, uint64_t correlation) {
    items_.push_back({start, start, thread, static_cast<uint32_t>(calls_.size()), Kind::call});
    calls_.push_back({correlation, start, thread, kNone, kNone});
}

/// What was open on a thread when something began: its parent. An interval that ends after its parent
/// (rounded times) counts as inside it all the same.
void HostTimeline::nest() {
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
        if (a.thread != b.thread) return a.thread < b.thread;
        if (a.start != b.start) return a.start < b.start;
        if ((a.kind == Kind::call) != (b.kind == Kind::call)) return b.kind == Kind::call;
        if (a.end != b.end) return a.end > b.end;
        return a.kind < b.kind;
    });
    std::vector<uint32_t> operations, annotations;
    uint64_t thread = 0;
    for (const Item& item : items_) {
        if (item.thread != thread) {
            operations.clear();
            annotations.clear();
            thread = item.thread;
        }
        while (!operations.empty() && operations_[operations.back()].end < item.start) operations.pop_back();
        while (!annotations.empty() && annotations_[annotations.back()].end < item.start)
            annotations.pop_back();
        const uint32_t operation = operations.empty() ? kNone : operations.back();
        const uint32_t annotation = annotations.empty() ? kNone : annotations.back();
        switch (item.kind) {
            case Kind::operation:
                operations_[item.data].parent = operation;
                operations.push_back(item.data);
                break;
            case Kind::annotation:
                annotations_[item.data].parent = annotation;
                annotations.push_back(item.data);
                break;
            case Kind::call:
                calls_[item.data].operation = operation;
                calls_[item.data].annotation = annotation;
        }
    }
    items_.clear();
    items_.shrink_to_fit();
    // op_call rises in the order of issue: outermost calls are numbered by their start.
    std::vector<uint32_t> outermost;
    for (uint32_t i = 0; i < operations_.size(); ++i)
        if (operations_[i].parent == kNone) outermost.push_back(i);
    std::stable_sort(outermost.begin(), outermost.end(),
                     [&](uint32_t a, uint32_t b) { return operations_[a].start < operations_[b].start; });
    for (uint32_t i = 0; i < outermost.size(); ++i) operations_[outermost[i]].outermost = i + 1;
}

void HostTimeline::add_ranges(Process& process, int64_t shift, std::vector<uint32_t>& range_of) const {
    std::vector<uint32_t> order(annotations_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return annotations_[a].start < annotations_[b].start; });
    range_of.assign(annotations_.size(), kNone);
    const auto first = static_cast<uint32_t>(process.ranges.size());
    for (uint32_t i = 0; i < order.size(); ++i) range_of[order[i]] = first + i;
    for (const uint32_t a : order) {
        const Annotation& annotation = annotations_[a];
        Range range;
        range.id = process.ranges.size() + 1;
        range.parent = annotation.parent == kNone ? kNone : range_of[annotation.parent];
        range.ended = true;
        range.name = annotation.name;
        range.start_ns = static_cast<uint64_t>(std::max<int64_t>(annotation.start + shift, 0));
        range.end_ns = static_cast<uint64_t>(std::max<int64_t>(annotation.end + shift, 0));
        process.ranges.push_back(std::move(range));
    }
}

uint32_t HostTimeline::node_of(uint32_t operation, Process& process) {
    std::vector<uint32_t> chain;
    uint32_t at = operation;
    for (; at != kNone && operations_[at].node == kNone; at = operations_[at].parent) chain.push_back(at);
    uint32_t node = at == kNone ? kNone : operations_[at].node;
    uint32_t outermost = at == kNone ? 0 : operations_[at].outermost;
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
        OperationCall& call = operations_[*it];
        const auto [found, fresh] = nodes_.try_emplace(NodeKey{node, call.name, call.inputs},
                                                       static_cast<uint32_t>(process.operations.size()));
        if (fresh) {
            Operation made;
            made.id = process.operations.size() + 1;
            made.parent = node;
            made.name = names_[call.name];
            made.inputs = input_lists_[call.inputs];
            made.backward = is_backward(made.name);
            process.operations.push_back(std::move(made));
        }
        node = call.node = found->second;
        outermost = call.outermost = call.outermost ? call.outermost : outermost;
    }
    return node;
}

void HostTimeline::resolve(Process& process, const std::vector<std::optional<uint64_t>>& external,
                           int64_t shift) {
    nest();
    std::vector<uint32_t> range_of;
    add_ranges(process, shift, range_of);
    std::unordered_map<uint64_t, uint32_t> by_correlation, by_external;
    for (uint32_t i = 0; i < calls_.size(); ++i) by_correlation.try_emplace(calls_[i].correlation, i);
    for (uint32_t i = 0; i < operations_.size(); ++i)
        if (operations_[i].external != UINT64_MAX) by_external.try_emplace(operations_[i].external, i);
    for (size_t l = 0; l < process.launches.size(); ++l) {
        Launch& launch = process.launches[l];
        const auto called = by_correlation.find(launch.correlation);
        const Call* call = called == by_correlation.end() ? nullptr : &calls_[called->second];
        uint32_t operation = call ? call->operation : kNone;
        if (l < external.size() && external[l]) {
            // Exact where it is one of the operations around the call; else the number means something else
            // (old traces repeat the correlation there).
            const auto named = by_external.find(*external[l]);
            if (named != by_external.end()) {
                const OperationCall& o = operations_[named->second];
                if (!call || (o.thread == call->thread && o.start <= call->start && call->start <= o.end))
                    operation = named->second;
            }
        }
        if (operation != kNone) {
            launch.operation = node_of(operation, process);
            launch.operation_call = operations_[operation].outermost;
        }
        if (!call) continue;
        launch.thread = call->thread;
        if (call->annotation != kNone) launch.range = range_of[call->annotation];
    }
}

}  // namespace attnscope::importer
