// Executable graphs: instantiate, launch, update.
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/event.h"
#include "collectors/virtual_gpu/core/graph_lookup.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
std::atomic<uint32_t> exec_ids{0};

CUresult find_exec(CUgraphExec handle, GraphExec*& exec) {
    exec = handles<GraphExec>().get(handle);
    return exec != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
    constexpr unsigned long long known =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (out == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
        report_unsupported("CUDA driver", "cuGraphInstantiate for launches from the device");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    auto exec = std::make_unique<GraphExec>();
    if (!make_steps(*graph, exec->steps)) return CUDA_ERROR_INVALID_VALUE;
    exec->id = exec_ids.fetch_add(1) + 1;
    exec->flags = flags;
    exec->context = context;
    exec->shape = shape_of(*graph, true);
    exec->user_objects = graph->user_objects;
    exec->handle = static_cast<CUgraphExec>(handles<GraphExec>().add(exec.get()));
    *out = exec.release()->handle;
    return CUDA_SUCCESS;
}

// Puts `made` in the place of the step that came from this node, when that is of the same kind.
CUresult replace(CUgraphExec exec_handle, CUgraphNode node_handle, GraphPayload made) {
    std::lock_guard lock(graph_mutex());
    GraphExec* exec = nullptr;
    GraphNode* node = nullptr;
    if (CUresult error = find_exec(exec_handle, exec); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_node(node_handle, node); error != CUDA_SUCCESS) return error;
    for (GraphStep& step : exec->steps) {
        if (step.source != node) continue;
        if (step.payload.index() != made.index()) return CUDA_ERROR_INVALID_VALUE;
        if (auto* kernel = std::get_if<KernelNode>(&made)) {
            const auto& old = std::get<KernelNode>(step.payload);
            kernel->attributes = old.attributes;
            kernel->shape.cluster = old.shape.cluster;
            kernel->shape.cooperative = old.shape.cooperative;
        }
        step.payload = std::move(made);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult update(CUgraphExec exec_handle, CUgraph graph_handle, CUgraphExecUpdateResult& result) {
    result = CU_GRAPH_EXEC_UPDATE_ERROR;
    std::lock_guard lock(graph_mutex());
    GraphExec* exec = nullptr;
    Graph* graph = nullptr;
    if (CUresult error = find_exec(exec_handle, exec); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_graph(graph_handle, graph); error != CUDA_SUCCESS) return error;
    std::vector<GraphStep> steps;
    if (!make_steps(*graph, steps)) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    if (shape_of(*graph, true) != exec->shape) {
        result = steps.size() == exec->steps.size() ? CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED
                                                    : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    for (size_t i = 0; i < steps.size(); i++) exec->steps[i].payload = std::move(steps[i].payload);
    result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return CUDA_SUCCESS;
}

}  // namespace

namespace driver {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
    return instantiate(out, graph, flags);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* bad, char* log, size_t size) {
    if (bad != nullptr) *bad = nullptr;
    if (log != nullptr && size != 0) *log = '\0';
    return instantiate(out, graph, 0);
}
CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* bad, char* log, size_t size) {
    return driver::cuGraphInstantiate_v2(out, graph, bad, log, size);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(out, graph, p->flags);
    p->hErrNode_out = nullptr;
    p->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}
CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
    GraphExec* exec = nullptr;
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_exec(handle, exec); error != CUDA_SUCCESS) return error;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec handle) {
    GraphExec* exec = handles<GraphExec>().remove(handle);
    if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    delete exec;
    return CUDA_SUCCESS;
}
CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
    GraphExec* exec = nullptr;
    Stream* stream = nullptr;
    if (CUresult error = find_exec(handle, exec); error != CUDA_SUCCESS) return error;
    return find_stream(stream_handle, stream);
}
CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
    GraphExec* exec = nullptr;
    Stream* stream = nullptr;
    if (CUresult error = find_exec(handle, exec); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_stream(stream_handle, stream); error != CUDA_SUCCESS) return error;
    return launch_graph(*exec, *stream);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
    if (info == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *info = {};
    return update(exec, graph, info->result);
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* bad,
                           CUgraphExecUpdateResult* result) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (bad != nullptr) *bad = nullptr;
    return update(exec, graph, *result);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* p) {
    KernelNode made;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_kernel(*p, made); error != CUDA_SUCCESS) return error;
    return replace(exec, node, std::move(made));
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widen(*p);
    return driver::cuGraphExecKernelNodeSetParams_v2(exec, node, &wide);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* p,
                                        CUcontext context) {
    CopyNode made;
    if (CUresult error = read_copy(p, context, made); error != CUDA_SUCCESS) return error;
    return replace(exec, node, made);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p,
                                        CUcontext context) {
    SetNode made;
    if (CUresult error = read_set(p, context, made); error != CUDA_SUCCESS) return error;
    return replace(exec, node, made);
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p) {
    HostNode made;
    if (CUresult error = read_host(p, made); error != CUDA_SUCCESS) return error;
    return replace(exec, node, made);
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    EventRecordNode made{handles<Event>().get(event)};
    return made.event != nullptr ? replace(exec, node, made) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    EventWaitNode made{handles<Event>().get(event)};
    return made.event != nullptr ? replace(exec, node, made) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p) {
    GraphPayload made;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_node(*p, made); error != CUDA_SUCCESS) return error;
    return replace(exec, node, std::move(made));
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec_handle, CUgraphNode node_handle, unsigned enabled) {
    std::lock_guard lock(graph_mutex());
    GraphExec* exec = nullptr;
    GraphNode* node = nullptr;
    if (CUresult error = find_exec(exec_handle, exec); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_node(node_handle, node); error != CUDA_SUCCESS) return error;
    for (GraphStep& step : exec->steps) {
        if (step.source != node) continue;
        const CUgraphNodeType type = type_of(step.payload);
        if (type != CU_GRAPH_NODE_TYPE_KERNEL && type != CU_GRAPH_NODE_TYPE_MEMSET &&
            type != CU_GRAPH_NODE_TYPE_MEMCPY)
            return CUDA_ERROR_INVALID_VALUE;
        step.enabled = enabled != 0;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec_handle, CUgraphNode node_handle, unsigned* enabled) {
    if (enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    GraphExec* exec = nullptr;
    GraphNode* node = nullptr;
    if (CUresult error = find_exec(exec_handle, exec); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_node(node_handle, node); error != CUDA_SUCCESS) return error;
    for (const GraphStep& step : exec->steps) {
        if (step.source != node) continue;
        *enabled = step.enabled;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace driver
}  // namespace attnscope::vgpu
