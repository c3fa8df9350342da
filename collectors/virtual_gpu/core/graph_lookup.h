#pragma once
// Graph handles to objects; CUDA_ERROR_INVALID_VALUE for what is none. The caller holds graph_mutex().
#include "collectors/virtual_gpu/core/event.h"
#include "collectors/virtual_gpu/core/graph.h"

namespace attnscope::vgpu {

CUresult find_graph(CUgraph handle, Graph*& graph);
CUresult find_node(CUgraphNode handle, GraphNode*& node);
/// Nodes of `graph`, each once.
CUresult find_dependencies(const CUgraphNode* from, size_t count, const Graph& graph,
                           std::vector<GraphNode*>& nodes);

template <class Kind>
CUresult read_event(CUevent handle, Kind& node) {
    node.event = handles<Event>().get(handle);
    return node.event != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// The program's parameters of a node -> what is kept of them.
CUresult read_kernel(const CUDA_KERNEL_NODE_PARAMS& parameters, KernelNode& node);
CUresult read_copy(const CUDA_MEMCPY3D* parameters, CUcontext context, CopyNode& node);
CUresult read_set(const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext context, SetNode& node);
CUresult read_host(const CUDA_HOST_NODE_PARAMS* parameters, HostNode& node);
CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& parameters);
/// Any node, from the union that cuGraphAddNode takes. CUDA_ERROR_NOT_SUPPORTED, with a diagnostic, for those
/// that are not emulated.
CUresult read_node(CUgraphNodeParams& parameters, GraphPayload& payload);

}  // namespace attnscope::vgpu
