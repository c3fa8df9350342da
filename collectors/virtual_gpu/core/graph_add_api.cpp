// cuGraphAdd*Node: parameters of the program -> nodes.
#include <cstring>

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/copy_parameters.h"
#include "collectors/virtual_gpu/core/graph_lookup.h"
#include "collectors/virtual_gpu/core/graph_memory.h"
#include "collectors/virtual_gpu/core/pool.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

CUresult add(CUgraphNode* out, CUgraph graph_handle, const CUgraphNode* dependencies, size_t count,
             GraphPayload payload) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(graph_handle, graph); error != CUDA_SUCCESS) return error;
    std::vector<GraphNode*> before;
    if (CUresult error = find_dependencies(dependencies, count, *graph, before); error != CUDA_SUCCESS)
        return error;
    *out = add_node(*graph, std::move(payload), std::move(before))->handle;
    return CUDA_SUCCESS;
}

CUresult context_is_known(CUcontext handle) {
    Context* context = nullptr;
    if (handle == nullptr) return current_context(context);
    return find_context(handle) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult read_child(CUgraph handle, ChildNode& node) {
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    node.graph = clone_graph(*graph);
    node.graph->embedded = true;
    return CUDA_SUCCESS;
}

}  // namespace

CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
    CUDA_KERNEL_NODE_PARAMS wide{};
    std::memcpy(&wide, &p, sizeof p);  // the newer one begins with the older
    return wide;
}

CUresult read_kernel(const CUDA_KERNEL_NODE_PARAMS& p, KernelNode& node) {
    Context* context = nullptr;
    if (p.func == nullptr && p.ctx != nullptr) {
        context = find_context(p.ctx);
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    } else if (CUresult error = current_context(context); error != CUDA_SUCCESS) {
        return error;
    }
    node.handle = p.func != nullptr ? p.func : reinterpret_cast<CUfunction>(p.kern);
    if (CUresult error = find_launched(node.handle, *context, node.function); error != CUDA_SUCCESS)
        return error;
    node.shape.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
    node.shape.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
    node.shape.dynamic_shared = p.sharedMemBytes;
    if (CUresult error = check_launch(*node.function, node.shape); error != CUDA_SUCCESS) return error;
    return pack_parameters(*node.function, {p.kernelParams, p.extra}, node.block);
}

CUresult read_copy(const CUDA_MEMCPY3D* p, CUcontext context, CopyNode& node) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = context_is_known(context); error != CUDA_SUCCESS) return error;
    Side to, from;
    if (CUresult error = read_copy_parameters(*p, node.copy, to, from); error != CUDA_SUCCESS) return error;
    node.copy.asynchronous = true;
    node.parameters = *p;
    return check_copy(node.copy, to, from);
}

CUresult read_set(const CUDA_MEMSET_NODE_PARAMS* p, CUcontext context, SetNode& node) {
    if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = context_is_known(context); error != CUDA_SUCCESS) return error;
    node.set = {p->dst, p->value, static_cast<uint8_t>(p->elementSize), p->width, p->height, p->pitch, true};
    return check_set(node.set);
}

CUresult read_host(const CUDA_HOST_NODE_PARAMS* p, HostNode& node) {
    if (p == nullptr || p->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
    node = {p->fn, p->userData};
    return CUDA_SUCCESS;
}

CUresult read_allocation(size_t bytes, const CUmemPoolProps& properties, AllocationNode& node) {
    if (bytes == 0 || properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    VirtualDevice* device = device_or_null(properties.location.id);
    Context* context = nullptr;
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    if (CUresult error = make_graph_memory(default_pool(*device), *context, bytes, node.memory);
        error != CUDA_SUCCESS)
        return error;
    node.parameters.poolProps = properties;
    node.parameters.bytesize = bytes;
    node.parameters.dptr = node.memory->pointer;
    return CUDA_SUCCESS;
}

CUresult read_node(CUgraphNodeParams& p, GraphPayload& payload) {
    switch (p.type) {
        case CU_GRAPH_NODE_TYPE_KERNEL: {
            CUDA_KERNEL_NODE_PARAMS parameters{};
            static_assert(sizeof parameters == sizeof p.kernel);
            std::memcpy(&parameters, &p.kernel, sizeof parameters);
            return read_kernel(parameters, payload.emplace<KernelNode>());
        }
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return read_copy(&p.memcpy.copyParams, p.memcpy.copyCtx, payload.emplace<CopyNode>());
        case CU_GRAPH_NODE_TYPE_MEMSET: {
            CUDA_MEMSET_NODE_PARAMS parameters{};
            std::memcpy(&parameters, &p.memset, sizeof parameters);
            return read_set(&parameters, p.memset.ctx, payload.emplace<SetNode>());
        }
        case CU_GRAPH_NODE_TYPE_HOST: {
            const CUDA_HOST_NODE_PARAMS parameters{p.host.fn, p.host.userData};
            return read_host(&parameters, payload.emplace<HostNode>());
        }
        case CU_GRAPH_NODE_TYPE_GRAPH:
            return read_child(p.graph.graph, payload.emplace<ChildNode>());
        case CU_GRAPH_NODE_TYPE_EMPTY:
            payload = EmptyNode{};
            return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return read_event(p.eventWait.event, payload.emplace<EventWaitNode>());
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            return read_event(p.eventRecord.event, payload.emplace<EventRecordNode>());
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
            auto& node = payload.emplace<AllocationNode>();
            CUresult result = read_allocation(p.alloc.bytesize, p.alloc.poolProps, node);
            if (result == CUDA_SUCCESS) p.alloc.dptr = node.parameters.dptr;
            return result;
        }
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            payload = FreeNode{p.free.dptr};
            return CUDA_SUCCESS;
        default:
            report_unsupported("CUDA driver",
                               ("cuGraphAddNode with node type " + std::to_string(p.type)).c_str());
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}

namespace driver {

CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                        CUgraphNodeParams* p) {
    GraphPayload payload;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_node(*p, payload); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, std::move(payload));
}
CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData*, size_t count, CUgraphNodeParams* p) {
    return driver::cuGraphAddNode(out, graph, dependencies, count, p);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
    return add(out, graph, dependencies, count, EmptyNode{});
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
    KernelNode node;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_kernel(*p, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, std::move(node));
}
CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widen(*p);
    return driver::cuGraphAddKernelNode_v2(out, graph, dependencies, count, &wide);
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* p, CUcontext context) {
    CopyNode node;
    if (CUresult error = read_copy(p, context, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* p, CUcontext context) {
    SetNode node;
    if (CUresult error = read_set(p, context, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* p) {
    HostNode node;
    if (CUresult error = read_host(p, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t count, CUgraph child) {
    ChildNode node;
    if (CUresult error = read_child(child, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, std::move(node));
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                   size_t count, CUevent event) {
    EventRecordNode node;
    if (CUresult error = read_event(event, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, CUevent event) {
    EventWaitNode node;
    if (CUresult error = read_event(event, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
    AllocationNode node;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_allocation(p->bytesize, p->poolProps, node); error != CUDA_SUCCESS)
        return error;
    p->dptr = node.parameters.dptr;
    return add(out, graph, dependencies, count, std::move(node));
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                               CUdeviceptr pointer) {
    return add(out, graph, dependencies, count, FreeNode{pointer});
}

}  // namespace driver
}  // namespace attnscope::vgpu
