#pragma once
// Stream capture: work issued to a capturing stream becomes nodes of a graph instead of being done.
#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "collectors/virtual_gpu/core/graph.h"

namespace attnscope::vgpu {

struct Event;
struct Stream;
struct ThreadState;

struct Capture {
    uint64_t id = 0;
    Graph* graph = nullptr;
    bool into_existing_graph = false;  ///< cuStreamBeginCaptureToGraph
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    Stream* origin = nullptr;
    ThreadState* thread = nullptr;
    bool invalidated = false;
    std::set<Stream*> streams;
};

/// Guards captures and graphs. Never held while a hook, an observer or a host function is called.
std::mutex& graph_mutex();

/// Adds a node after what `stream` has captured so far. CUDA_ERROR_STREAM_CAPTURE_INVALIDATED when the
/// capture is.
CUresult add_captured(Stream& stream, GraphPayload payload);
/// The same for a caller that holds graph_mutex().
CUresult add_captured_locked(Stream& stream, GraphPayload payload);

/// `existing` not nullptr: into that graph, after `dependencies`.
CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* existing,
                       std::vector<GraphNode*> dependencies);
/// `graph` is nullptr unless it succeeds.
CUresult end_capture(Stream& stream, Graph*& graph);

CUresult capture_event_record(Event& event, Stream& stream);
CUresult capture_event_wait(Event& event, Stream& stream);

/// For calls that a capture forbids under the thread's capture mode (allocation, synchronous calls): the
/// error 900, and the captures concerned are invalidated.
CUresult refuse_unsafe_call();
/// For synchronisation with a stream: forbidden while it captures (900, invalidates).
CUresult refuse_while_capturing(Stream& stream);
/// For synchronisation with a whole context: forbidden while any of its streams captures.
CUresult refuse_during_capture(Context& context);
/// For work on the legacy stream, while one that it must order itself with captures: the error 906.
CUresult refuse_implicit_capture(Stream& stream);

/// A stream is destroyed: its capture is invalidated.
void leave_capture(Stream& stream);

}  // namespace attnscope::vgpu
