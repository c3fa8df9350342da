// Nodes' parameters and attributes.
#include <cstring>

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/event.h"
#include "collectors/virtual_gpu/core/graph_lookup.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

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

}  // namespace

namespace driver {

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
    if (CUresult error = driver::cuGraphKernelNodeGetParams_v2(handle, &wide); error != CUDA_SUCCESS)
        return error;
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
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue* value) {
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
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value) {
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
        if (node.graph->handle == nullptr)
            node.graph->handle = static_cast<CUgraph>(handles<Graph>().add(node.graph.get()));
        *out = node.graph->handle;
        return CUDA_SUCCESS;
    });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<EventRecordNode>(
        handle, [&](EventRecordNode& node) { return *out = node.event->handle, CUDA_SUCCESS; });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event) {
    EventRecordNode made;
    if (CUresult error = read_event(event, made); error != CUDA_SUCCESS) return error;
    return replace(handle, made);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<EventWaitNode>(handle,
                               [&](EventWaitNode& node) { return *out = node.event->handle, CUDA_SUCCESS; });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event) {
    EventWaitNode made;
    if (CUresult error = read_event(event, made); error != CUDA_SUCCESS) return error;
    return replace(handle, made);
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with<AllocationNode>(handle,
                                [&](AllocationNode& node) { return *p = node.parameters, CUDA_SUCCESS; });
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
