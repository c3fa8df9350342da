#include "launch_recorder.h"

#include "launch_fields.h"

namespace attnscope::collector {

uint32_t LaunchRecorder::name_id(const std::string& name) {
    if (name.empty()) return 0;
    // The line is written before another thread can use the number.
    const std::lock_guard lock(mutex_);
    std::string line;
    const uint32_t id = names_.id(name.c_str(), line);
    if (!line.empty()) file_.append(line);
    return id;
}

void LaunchRecorder::add_place(JsonLine& line, const LaunchPlace& place) {
    line.number("device", place.device).number("context", place.context);
    if (place.stream.has_value()) line.number("stream", *place.stream);
    line.number("thread", place.thread);
    if (place.range != 0) line.number("range", place.range);
    if (place.process_range != 0) line.number("process_range", place.process_range);
    add_operation(line, place.operation);
}

void LaunchRecorder::kernel(const LaunchPlace& place, const KernelCall& call, const FunctionFacts& facts,
                            const std::string& symbol, const char* uncounted) {
    std::string text;
    JsonLine line(text, "kernel");
    line.number("correlation", place.correlation);
    if (const uint32_t name = name_id(symbol.empty() ? facts.name : symbol)) line.number("name", name);
    add_place(line, place);
    add_geometry(line, call.grid, call.block, call.cluster);
    const bool known = facts.registers.value_or(0) != 0;  // no kernel has none
    if (known) line.number("registers", *facts.registers);
    if (known && facts.static_shared.has_value()) line.number("static_shared", *facts.static_shared);
    line.number("dynamic_shared", call.dynamic_shared);
    if (known && facts.local_per_thread.has_value()) line.number("local_per_thread", *facts.local_per_thread);
    line.number("launch_type", call.launch_type);
    if (place.graph != 0) line.number("graph", place.graph);
    if (place.graph_node != 0) line.number("graph_node", place.graph_node);
    if (uncounted != nullptr) line.text("uncounted", uncounted);
    line.end();
    file_.append(text);
    counts_.kernels.fetch_add(1, std::memory_order_relaxed);
}

void LaunchRecorder::copy(const LaunchPlace& place, const CopyCall& call) {
    std::string text;
    JsonLine line(text, "memcpy");
    line.number("correlation", place.correlation);
    if (call.kind != nullptr) line.text("copy_kind", call.kind);
    line.number("bytes", call.bytes).boolean("asynchronous", call.asynchronous);
    add_place(line, place);
    line.end();
    file_.append(text);
    counts_.memcpys.fetch_add(1, std::memory_order_relaxed);
}

void LaunchRecorder::memset(const LaunchPlace& place, const MemsetCall& call) {
    std::string text;
    JsonLine line(text, "memset");
    line.number("correlation", place.correlation).number("value", call.value).number("bytes", call.bytes);
    add_place(line, place);
    line.end();
    file_.append(text);
    counts_.memsets.fetch_add(1, std::memory_order_relaxed);
}

void LaunchRecorder::set_block_shape(void* function, const std::array<uint32_t, 3>& block) {
    const std::lock_guard lock(mutex_);
    shapes_[function].block = block;
}

void LaunchRecorder::set_shared_size(void* function, uint32_t bytes) {
    const std::lock_guard lock(mutex_);
    shapes_[function].shared = bytes;
}

void LaunchRecorder::add_function_shape(KernelCall& call) {
    if (call.block[0] != 0) return;
    const std::lock_guard lock(mutex_);
    const Shape& shape = shapes_[call.function];
    call.block = shape.block;
    call.dynamic_shared = shape.shared;
}

uint32_t LaunchRecorder::graph_id(CUgraphExec exec) {
    const std::lock_guard lock(mutex_);
    const auto [entry, fresh] = graphs_.try_emplace(exec, last_graph_ + 1);
    if (fresh) ++last_graph_;
    return entry->second;
}

void LaunchRecorder::forget_graph(CUgraphExec exec) {
    const std::lock_guard lock(mutex_);
    graphs_.erase(exec);
}

}  // namespace attnscope::collector
