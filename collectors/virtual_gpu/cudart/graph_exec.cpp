// Changes of nodes in instantiated graphs.
#include "copies.h"
#include "graph_params.h"

using namespace attnscope::vgpu::cudart;

API(cudaGraphExecKernelNodeSetParams, v10010,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const cudaKernelNodeParams* pNodeParams),
    (hGraphExec, node, pNodeParams)) {
    CUDA_KERNEL_NODE_PARAMS params;
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = driver_params(*pNodeParams, &params)) return error;
    return checked(cuGraphExecKernelNodeSetParams(hGraphExec, node, &params));
}

static cudaError_t set_copy(cudaGraphExec_t graph, cudaGraphNode_t node,
                            const cudaMemcpy3DParms& parameters) {
    CUDA_MEMCPY3D copy;
    CUcontext context = nullptr;
    if (const cudaError_t error = driver_copy(parameters, &copy)) return error;
    if (const cudaError_t error = current_context(&context)) return error;
    return checked(cuGraphExecMemcpyNodeSetParams(graph, node, &copy, context));
}

API(cudaGraphExecMemcpyNodeSetParams, v10020,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const cudaMemcpy3DParms* pNodeParams),
    (hGraphExec, node, pNodeParams)) {
    return pNodeParams ? set_copy(hGraphExec, node, *pNodeParams) : cudaErrorInvalidValue;
}

API(cudaGraphExecMemcpyNodeSetParams1D, v11010,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst, const void* src, size_t count,
     cudaMemcpyKind kind),
    (hGraphExec, node, dst, src, count, kind)) {
    return set_copy(hGraphExec, node, linear_copy(dst, src, count, kind));
}

API(cudaGraphExecMemsetNodeSetParams, v10020,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const cudaMemsetParams* pNodeParams),
    (hGraphExec, node, pNodeParams)) {
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS params = driver_params(*pNodeParams);
    CUcontext context = nullptr;
    if (const cudaError_t error = current_context(&context)) return error;
    return checked(cuGraphExecMemsetNodeSetParams(hGraphExec, node, &params, context));
}

API(cudaGraphExecHostNodeSetParams, v10020,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const cudaHostNodeParams* pNodeParams),
    (hGraphExec, node, pNodeParams)) {
    return checked(
        cuGraphExecHostNodeSetParams(hGraphExec, node, alike<const CUDA_HOST_NODE_PARAMS>(pNodeParams)));
}

API(cudaGraphExecChildGraphNodeSetParams, v11010,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, cudaGraph_t childGraph),
    (hGraphExec, node, childGraph)) {
    return checked(cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph));
}

API(cudaGraphExecEventRecordNodeSetEvent, v11010,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event), (hGraphExec, hNode, event)) {
    return checked(cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event));
}

API(cudaGraphExecEventWaitNodeSetEvent, v11010,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event), (hGraphExec, hNode, event)) {
    return checked(cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event));
}

API(cudaGraphExecNodeSetParams, v12020,
    (cudaGraphExec_t graphExec, cudaGraphNode_t node, cudaGraphNodeParams* nodeParams),
    (graphExec, node, nodeParams)) {
    if (nodeParams == nullptr) return cudaErrorInvalidValue;
    CUcontext context = nullptr;
    CUgraphNodeParams params;
    if (const cudaError_t error = current_context(&context)) return error;
    if (const cudaError_t error = driver_params(*nodeParams, context, &params)) return error;
    return checked(cuGraphExecNodeSetParams(graphExec, node, &params));
}
