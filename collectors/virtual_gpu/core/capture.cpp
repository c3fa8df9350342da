#include "collectors/virtual_gpu/core/capture.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "collectors/virtual_gpu/core/event.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "collectors/virtual_gpu/core/thread.h"

namespace attnscope::vgpu {

namespace {

// All captures that go on. The count is read without the mutex: most programs never capture.
std::set<Capture*>& captures() {
    static auto* all = new std::set<Capture*>();
    return *all;
}
std::atomic<size_t> capture_count{0};
std::atomic<uint64_t> capture_ids{0};

// With the mutex held.
void remove_capture(Capture* capture) {
    for (Stream* stream : capture->streams) {
        stream->capture = nullptr;
        stream->capture_dependencies.clear();
    }
    captures().erase(capture);
    capture_count = captures().size();
}

Capture* find_capture(uint64_t id) {
    for (Capture* capture : captures())
        if (capture->id == id) return capture;
    return nullptr;
}

// Whether every node that the streams of a capture ended with is behind `ends`.
bool all_joined(const Capture& capture, const std::vector<GraphNode*>& ends) {
    std::unordered_set<const GraphNode*> reached;
    std::vector<const GraphNode*> open(ends.begin(), ends.end());
    while (!open.empty()) {
        const GraphNode* node = open.back();
        open.pop_back();
        if (!reached.insert(node).second) continue;
        open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
    }
    for (const Stream* stream : capture.streams)
        for (const GraphNode* node : stream->capture_dependencies)
            if (reached.count(node) == 0) return false;
    return true;
}

void merge(std::vector<GraphNode*>& into, const std::vector<GraphNode*>& more) {
    for (GraphNode* node : more)
        if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
}

}  // namespace

std::mutex& graph_mutex() {
    static auto* mutex = new std::mutex();
    return *mutex;
}

CUresult add_captured_locked(Stream& stream, GraphPayload payload) {
    Capture* capture = stream.capture.load();
    if (capture == nullptr) return CUDA_ERROR_UNKNOWN;  // ended by another thread meanwhile
    if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    GraphNode* node = add_node(*capture->graph, std::move(payload), stream.capture_dependencies);
    stream.capture_dependencies = {node};
    return CUDA_SUCCESS;
}

CUresult add_captured(Stream& stream, GraphPayload payload) {
    std::lock_guard lock(graph_mutex());
    return add_captured_locked(stream, std::move(payload));
}

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* existing,
                       std::vector<GraphNode*> dependencies) {
    if (mode != CU_STREAM_CAPTURE_MODE_GLOBAL && mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
        mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream.kind == StreamKind::legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    std::lock_guard lock(graph_mutex());
    if (stream.capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    auto* capture = new Capture();
    capture->id = capture_ids.fetch_add(1) + 1;
    capture->graph = existing != nullptr ? existing : create_graph();
    capture->into_existing_graph = existing != nullptr;
    capture->mode = mode;
    capture->origin = &stream;
    capture->thread = &thread_state();
    capture->streams.insert(&stream);
    stream.capture_dependencies = std::move(dependencies);
    captures().insert(capture);
    capture_count = captures().size();
    stream.capture.store(capture, std::memory_order_release);
    return CUDA_SUCCESS;
}

CUresult end_capture(Stream& stream, Graph*& graph) {
    graph = nullptr;
    std::unique_ptr<Graph> dropped;  // its user objects' destructors run after the lock
    std::lock_guard lock(graph_mutex());
    Capture* capture = stream.capture.load();
    if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != &thread_state())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    CUresult result = CUDA_SUCCESS;
    if (capture->invalidated) {
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    } else if (!all_joined(*capture, stream.capture_dependencies)) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    remove_capture(capture);
    if (result == CUDA_SUCCESS) {
        graph = capture->graph;
    } else if (!capture->into_existing_graph) {
        dropped.reset(capture->graph);
    }
    delete capture;
    return result;
}

CUresult capture_event_record(Event& event, Stream& stream) {
    std::lock_guard lock(graph_mutex());
    Capture* capture = stream.capture.load();
    if (capture == nullptr) return CUDA_ERROR_UNKNOWN;
    if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    std::lock_guard own(event.mutex);
    event.capture_id = capture->id;
    event.capture_dependencies = stream.capture_dependencies;
    event.recorded = false;
    return CUDA_SUCCESS;
}

CUresult capture_event_wait(Event& event, Stream& stream) {
    std::lock_guard lock(graph_mutex());
    uint64_t id;
    std::vector<GraphNode*> before;
    bool recorded;
    {
        std::lock_guard own(event.mutex);
        id = event.capture_id;
        before = event.capture_dependencies;
        recorded = event.recorded;
    }
    Capture* own = stream.capture.load();
    if (own != nullptr && own->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Capture* other = id != 0 ? find_capture(id) : nullptr;
    if (other == nullptr) {
        // An event from outside: waiting for it would tie the graph to work that it does not hold. Never
        // recorded: no work.
        if (own == nullptr || (id == 0 && !recorded)) return CUDA_SUCCESS;
        own->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (other->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (own != nullptr && own != other) {
        own->invalidated = other->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (own == nullptr) {
        if (stream.kind == StreamKind::legacy) {
            other->invalidated = true;
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
        other->streams.insert(&stream);
        stream.capture_dependencies.clear();
        stream.capture.store(other, std::memory_order_release);
    }
    merge(stream.capture_dependencies, before);
    return CUDA_SUCCESS;
}

CUresult refuse_unsafe_call() {
    if (capture_count.load(std::memory_order_relaxed) == 0) return CUDA_SUCCESS;
    ThreadState& thread = thread_state();
    if (thread.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    std::lock_guard lock(graph_mutex());
    bool refused = false;
    for (Capture* capture : captures()) {
        const bool own = capture->thread == &thread && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        const bool others = thread.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                            capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (!own && !others) continue;
        capture->invalidated = true;
        refused = true;
    }
    return refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult refuse_while_capturing(Stream& stream) {
    if (stream.capture.load(std::memory_order_acquire) != nullptr) {
        std::lock_guard lock(graph_mutex());
        Capture* capture = stream.capture.load();
        if (capture != nullptr) {
            capture->invalidated = true;
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    if (CUresult error = refuse_unsafe_call(); error != CUDA_SUCCESS) return error;
    return refuse_implicit_capture(stream);
}

CUresult refuse_during_capture(Context& context) {
    if (capture_count.load(std::memory_order_relaxed) == 0) return CUDA_SUCCESS;
    {
        std::lock_guard lock(graph_mutex());
        bool refused = false;
        for (Capture* capture : captures()) {
            if (capture->origin->context != &context) continue;
            capture->invalidated = true;
            refused = true;
        }
        if (refused) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return refuse_unsafe_call();
}

CUresult refuse_implicit_capture(Stream& stream) {
    if (capture_count.load(std::memory_order_relaxed) == 0 || stream.kind != StreamKind::legacy)
        return CUDA_SUCCESS;
    std::lock_guard lock(graph_mutex());
    bool refused = false;
    for (Capture* capture : captures()) {
        for (const Stream* other : capture->streams) {
            if (other->context != stream.context || !other->blocking()) continue;
            capture->invalidated = true;
            refused = true;
        }
    }
    return refused ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

void leave_capture(Stream& stream) {
    if (stream.capture.load(std::memory_order_acquire) == nullptr) return;
    std::unique_ptr<Graph> dropped;
    std::lock_guard lock(graph_mutex());
    Capture* capture = stream.capture.load();
    if (capture == nullptr) return;
    capture->invalidated = true;
    capture->streams.erase(&stream);
    stream.capture = nullptr;
    stream.capture_dependencies.clear();
    if (capture->origin != &stream) return;
    // Nobody can end it any more.
    remove_capture(capture);
    if (!capture->into_existing_graph) dropped.reset(capture->graph);
    delete capture;
}

}  // namespace attnscope::vgpu
