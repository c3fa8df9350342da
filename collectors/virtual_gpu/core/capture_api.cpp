// cuStreamBeginCapture and its kin.
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
CUresult find_nodes(const CUgraphNode* from, size_t count, const Graph* graph,
                    std::vector<GraphNode*>& nodes) {
    if (count != 0 && from == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        GraphNode* node = handles<GraphNode>().get(from[i]);
        if (node == nullptr || node->graph != graph) return CUDA_ERROR_INVALID_VALUE;
        nodes.push_back(node);
    }
    return CUDA_SUCCESS;
}

// The list that cuStreamGetCaptureInfo lends out lives until the stream's next operation; one for each thread
// is enough.
thread_local std::vector<CUgraphNode> lent_nodes;
thread_local std::vector<CUgraphEdgeData> lent_edges;

CUresult capture_info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                      const CUgraphNode** nodes, const CUgraphEdgeData** edges, size_t* count) {
    Stream* stream = nullptr;
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(graph_mutex());
    const Capture* capture = stream->capture.load();
    *status = capture == nullptr     ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                     : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id != nullptr) *id = capture->id;
    if (graph != nullptr) *graph = capture->graph->handle;
    if (nodes == nullptr && count == nullptr && edges == nullptr) return CUDA_SUCCESS;
    lent_nodes.clear();
    for (const GraphNode* node : stream->capture_dependencies) lent_nodes.push_back(node->handle);
    lent_edges.assign(lent_nodes.size(), CUgraphEdgeData{});
    if (nodes != nullptr) *nodes = lent_nodes.data();
    if (edges != nullptr) *edges = lent_edges.data();
    if (count != nullptr) *count = lent_nodes.size();
    return CUDA_SUCCESS;
}
}  // namespace

namespace driver {

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    return begin_capture(*stream, mode, nullptr, {});
}
CUresult cuStreamBeginCapture(CUstream handle) {
    return driver::cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t count, CUstreamCaptureMode mode) {
    Stream* stream = nullptr;
    Graph* graph = handles<Graph>().get(graph_handle);
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    std::vector<GraphNode*> nodes;
    if (CUresult error = find_nodes(dependencies, count, graph, nodes); error != CUDA_SUCCESS) return error;
    return begin_capture(*stream, mode, graph, std::move(nodes));
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* out) {
    Stream* stream = nullptr;
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    Graph* graph = nullptr;
    CUresult result = end_capture(*stream, graph);
    if (graph != nullptr) *out = graph->handle;
    return result;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
    Stream* stream = nullptr;
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (stream->capture.load(std::memory_order_acquire) == nullptr) {
        *status = CU_STREAM_CAPTURE_STATUS_NONE;
        return refuse_implicit_capture(*stream);
    }
    return capture_info(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
    return capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
    return capture_info(stream, status, id, graph, nodes, nullptr, count);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes, const CUgraphEdgeData** edges,
                                   size_t* count) {
    return capture_info(stream, status, id, graph, nodes, edges, count);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* dependencies,
                                              const CUgraphEdgeData*, size_t count, unsigned flags) {
    Stream* stream = nullptr;
    if (flags != CU_STREAM_ADD_CAPTURE_DEPENDENCIES && flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(graph_mutex());
    const Capture* capture = stream->capture.load();
    if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    std::vector<GraphNode*> nodes;
    if (CUresult error = find_nodes(dependencies, count, capture->graph, nodes); error != CUDA_SUCCESS)
        return error;
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->capture_dependencies.clear();
    for (GraphNode* node : nodes) stream->capture_dependencies.push_back(node);
    return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies, size_t count,
                                           unsigned flags) {
    return driver::cuStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}

}  // namespace driver
}  // namespace attnscope::vgpu
