// Nodes: cuGraphAdd*Node and their parameters.
#include <cstring>

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/copy_parameters.h"
#include "collectors/virtual_gpu/core/event.h"
#include "collectors/virtual_gpu/core/graph_lookup.h"
#include "collectors/virtual_gpu/core/pool.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

CUresult add(CUgraphNode* out, CUgraph graph_handle, const CUgraphNode* dependencies, size_t count, GraphPayload payload) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(graph_handle, graph); error != CUDA_SUCCESS) return error;
    std::vector<GraphNode*> before;
    if (CUresult error = find_dependencies(dependencies, count, *graph, before); error != CUDA_SUCCESS) return error;
    *out = add_node(*graph, std::move(payload), std::move(before))->handle;
    return CUDA_SUCCESS;
}

// Calls use(payload) with the node's payload when it is of this kind.
template <class Kind, class Use>
CUresult with(CUgraphNode handle, Use&& use) {
    std::lock_guard lock(graph_mutex());
    GraphNode* node = nullptr;
    if (CUresult error = find_node(handle, node); error != CUDA_SUCCESS) return error;
    auto* payload = std::get_if<Kind>(&node->payload);
    return payload != nullptr ? use(*payload) : CUDA_ERROR_INVALID_VALUE;
}

template <class Kind>
CUresult replace(CUgraphNode handle, Kind&& made) {
    return with<std::decay_t<Kind>>(handle, [&](auto& payload) {
        payload = std::forward<Kind>(made);
        return CUDA_SUCCESS;
    });
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

template <class Kind>
CUresult read_event(CUevent handle, Kind& node) {
    node.event = handles<Event>().get(handle);
    return node.event != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
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
    if (CUresult error = find_launched(node.handle, *context, node.function); error != CUDA_SUCCESS) return error;
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
    if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) return CUDA_ERROR_INVALID_VALUE;
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
    if (bytes == 0 || properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    VirtualDevice* device = device_or_null(properties.location.id);
    Context* context = nullptr;
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    CUdeviceptr pointer = 0;
    if (CUresult error = allocate_from_pool(default_pool(*device), *context, bytes, pointer); error != CUDA_SUCCESS) return error;
    node.memory = std::shared_ptr<CUdeviceptr>(new CUdeviceptr(pointer), [](CUdeviceptr* p) {
        free_to_pool(*p);
        delete p;
    });
    node.parameters.poolProps = properties;
    node.parameters.bytesize = bytes;
    node.parameters.dptr = pointer;
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
        case CU_GRAPH_NODE_TYPE_MEMCPY: return read_copy(&p.memcpy.copyParams, p.memcpy.copyCtx, payload.emplace<CopyNode>());
        case CU_GRAPH_NODE_TYPE_MEMSET: {
            CUDA_MEMSET_NODE_PARAMS parameters{};
            std::memcpy(&parameters, &p.memset, sizeof parameters);
            return read_set(&parameters, p.memset.ctx, payload.emplace<SetNode>());
        }
        case CU_GRAPH_NODE_TYPE_HOST: {
            const CUDA_HOST_NODE_PARAMS parameters{p.host.fn, p.host.userData};
            return read_host(&parameters, payload.emplace<HostNode>());
        }
        case CU_GRAPH_NODE_TYPE_GRAPH: return read_child(p.graph.graph, payload.emplace<ChildNode>());
        case CU_GRAPH_NODE_TYPE_EMPTY: payload = EmptyNode{}; return CUDA_SUCCESS;
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return read_event(p.eventWait.event, payload.emplace<EventWaitNode>());
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return read_event(p.eventRecord.event, payload.emplace<EventRecordNode>());
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
            auto& node = payload.emplace<AllocationNode>();
            CUresult result = read_allocation(p.alloc.bytesize, p.alloc.poolProps, node);
            if (result == CUDA_SUCCESS) p.alloc.dptr = node.parameters.dptr;
            return result;
        }
        case CU_GRAPH_NODE_TYPE_MEM_FREE: payload = FreeNode{p.free.dptr}; return CUDA_SUCCESS;
        default:
            report_unsupported("CUDA driver", ("cuGraphAddNode with node type " + std::to_string(p.type)).c_str());
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}

namespace driver {

CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraphNodeParams* p) {
    GraphPayload payload;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_node(*p, payload); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, std::move(payload));
}
CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData*, size_t count,
                           CUgraphNodeParams* p) {
    return driver::cuGraphAddNode(out, graph, dependencies, count, p);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
    return add(out, graph, dependencies, count, EmptyNode{});
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_KERNEL_NODE_PARAMS* p) {
    KernelNode node;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_kernel(*p, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, std::move(node));
}
CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widen(*p);
    return driver::cuGraphAddKernelNode_v2(out, graph, dependencies, count, &wide);
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_MEMCPY3D* p,
                              CUcontext context) {
    CopyNode node;
    if (CUresult error = read_copy(p, context, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_MEMSET_NODE_PARAMS* p,
                              CUcontext context) {
    SetNode node;
    if (CUresult error = read_set(p, context, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const CUDA_HOST_NODE_PARAMS* p) {
    HostNode node;
    if (CUresult error = read_host(p, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraph child) {
    ChildNode node;
    if (CUresult error = read_child(child, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, std::move(node));
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUevent event) {
    EventRecordNode node;
    if (CUresult error = read_event(event, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUevent event) {
    EventWaitNode node;
    if (CUresult error = read_event(event, node); error != CUDA_SUCCESS) return error;
    return add(out, graph, dependencies, count, node);
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
    AllocationNode node;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_allocation(p->bytesize, p->poolProps, node); error != CUDA_SUCCESS) return error;
    p->dptr = node.parameters.dptr;
    return add(out, graph, dependencies, count, std::move(node));
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUdeviceptr pointer) {
    return add(out, graph, dependencies, count, FreeNode{pointer});
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<KernelNode>(handle, [&](KernelNode& node) {
        const Function& function = *node.function;
        node.values.clear();
        for (const KernelParameter& parameter : function.resources.parameters)
            if (!node.block.empty()) node.values.push_back(node.block.data() + parameter.offset);
        *p = {};
        p->func = node.handle != nullptr ? node.handle : function.handle;
        p->gridDimX = node.shape.grid.x;
        p->gridDimY = node.shape.grid.y;
        p->gridDimZ = node.shape.grid.z;
        p->blockDimX = node.shape.block.x;
        p->blockDimY = node.shape.block.y;
        p->blockDimZ = node.shape.block.z;
        p->sharedMemBytes = node.shape.dynamic_shared;
        p->kernelParams = node.values.empty() ? nullptr : node.values.data();
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1* p) {
    CUDA_KERNEL_NODE_PARAMS wide;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = driver::cuGraphKernelNodeGetParams_v2(handle, &wide); error != CUDA_SUCCESS) return error;
    std::memcpy(p, &wide, sizeof *p);
    return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS* p) {
    KernelNode made;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_kernel(*p, made); error != CUDA_SUCCESS) return error;
    return with<KernelNode>(handle, [&](KernelNode& node) {
        made.attributes = node.attributes;
        made.shape.cluster = node.shape.cluster;
        made.shape.cooperative = node.shape.cooperative;
        node = std::move(made);
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS wide = widen(*p);
    return driver::cuGraphKernelNodeSetParams_v2(handle, &wide);
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<KernelNode>(handle, [&](KernelNode& node) {
        std::memset(value, 0, sizeof *value);
        const auto set = node.attributes.find(attribute);
        if (set != node.attributes.end()) {
            *value = set->second;
        } else if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            value->clusterDim = {node.shape.cluster.x, node.shape.cluster.y, node.shape.cluster.z};
        } else if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            value->cooperative = node.shape.cooperative;
        }
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue* value) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<KernelNode>(handle, [&](KernelNode& node) {
        LaunchShape shape = node.shape;
        if (!apply_launch_attribute(shape, attribute, *value)) return CUDA_ERROR_INVALID_VALUE;
        if (CUresult error = check_launch(*node.function, shape); error != CUDA_SUCCESS) return error;
        node.shape = shape;
        node.attributes[attribute] = *value;
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
    KernelNode source;
    CUresult result = with<KernelNode>(from, [&](KernelNode& node) {
        source = node;
        return CUDA_SUCCESS;
    });
    if (result != CUDA_SUCCESS) return result;
    return with<KernelNode>(to, [&](KernelNode& node) {
        node.attributes = source.attributes;
        node.shape.cluster = source.shape.cluster;
        node.shape.cooperative = source.shape.cooperative;
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<CopyNode>(handle, [&](CopyNode& node) { return *p = node.parameters, CUDA_SUCCESS; });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D* p) {
    CopyNode made;
    if (CUresult error = read_copy(p, nullptr, made); error != CUDA_SUCCESS) return error;
    return replace(handle, made);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<SetNode>(handle, [&](SetNode& node) {
        const SetRequest& s = node.set;
        *p = {};
        p->dst = s.destination;
        p->pitch = s.pitch;
        p->value = s.value;
        p->elementSize = s.value_bytes;
        p->width = s.width;
        p->height = s.height;
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS* p) {
    SetNode made;
    if (CUresult error = read_set(p, nullptr, made); error != CUDA_SUCCESS) return error;
    return replace(handle, made);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<HostNode>(handle, [&](HostNode& node) {
        *p = {};
        p->fn = node.function;
        p->userData = node.user;
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS* p) {
    HostNode made;
    if (CUresult error = read_host(p, made); error != CUDA_SUCCESS) return error;
    return replace(handle, made);
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<ChildNode>(handle, [&](ChildNode& node) {
        if (node.graph->handle == nullptr) node.graph->handle = static_cast<CUgraph>(handles<Graph>().add(node.graph.get()));
        *out = node.graph->handle;
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<EventRecordNode>(handle, [&](EventRecordNode& node) { return *out = node.event->handle, CUDA_SUCCESS; });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event) {
    EventRecordNode made;
    if (CUresult error = read_event(event, made); error != CUDA_SUCCESS) return error;
    return replace(handle, made);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<EventWaitNode>(handle, [&](EventWaitNode& node) { return *out = node.event->handle, CUDA_SUCCESS; });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event) {
    EventWaitNode made;
    if (CUresult error = read_event(event, made); error != CUDA_SUCCESS) return error;
    return replace(handle, made);
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<AllocationNode>(handle, [&](AllocationNode& node) { return *p = node.parameters, CUDA_SUCCESS; });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* pointer) {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<FreeNode>(handle, [&](FreeNode& node) { return *pointer = node.pointer, CUDA_SUCCESS; });
}
CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* p) {
    GraphPayload made;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_node(*p, made); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(graph_mutex());
    GraphNode* node = nullptr;
    if (CUresult error = find_node(handle, node); error != CUDA_SUCCESS) return error;
    if (node->payload.index() != made.index()) return CUDA_ERROR_INVALID_VALUE;
    node->payload = std::move(made);
    return CUDA_SUCCESS;
}

}  // namespace driver
}  // namespace attnscope::vgpu
