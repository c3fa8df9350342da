// Nodes of graphs, added one by one.
#include "copies.h"
#include "graph_params.h"

using namespace attnscope::vgpu::cudart;

API(cudaGraphAddKernelNode, v10000,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, const cudaKernelNodeParams* pNodeParams),
    (pGraphNode, graph, pDependencies, numDependencies, pNodeParams)) {
    CUDA_KERNEL_NODE_PARAMS params;
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = driver_params(*pNodeParams, &params)) return error;
    return checked(cuGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies, &params));
}

API(cudaGraphKernelNodeGetParams, v10000, (cudaGraphNode_t node, cudaKernelNodeParams* pNodeParams),
    (node, pNodeParams)) {
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    CUDA_KERNEL_NODE_PARAMS params{};
    if (const CUresult result = cuGraphKernelNodeGetParams(node, &params)) return checked(result);
    *pNodeParams = runtime_params(params);
    return cudaSuccess;
}

API(cudaGraphKernelNodeSetParams, v10000, (cudaGraphNode_t node, const cudaKernelNodeParams* pNodeParams),
    (node, pNodeParams)) {
    CUDA_KERNEL_NODE_PARAMS params;
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = driver_params(*pNodeParams, &params)) return error;
    return checked(cuGraphKernelNodeSetParams(node, &params));
}

API(cudaGraphKernelNodeCopyAttributes, v11000, (cudaGraphNode_t hDst, cudaGraphNode_t hSrc), (hDst, hSrc)) {
    return checked(cuGraphKernelNodeCopyAttributes(hDst, hSrc));
}

API(cudaGraphKernelNodeGetAttribute, v11000,
    (cudaGraphNode_t hNode, cudaKernelNodeAttrID attr, cudaKernelNodeAttrValue* value_out),
    (hNode, attr, value_out)) {
    return checked(cuGraphKernelNodeGetAttribute(hNode, enumerator<CUkernelNodeAttrID>(attr),
                                                 alike<CUkernelNodeAttrValue>(value_out)));
}

API(cudaGraphKernelNodeSetAttribute, v11000,
    (cudaGraphNode_t hNode, cudaKernelNodeAttrID attr, const cudaKernelNodeAttrValue* value),
    (hNode, attr, value)) {
    return checked(cuGraphKernelNodeSetAttribute(hNode, enumerator<CUkernelNodeAttrID>(attr),
                                                 alike<const CUkernelNodeAttrValue>(value)));
}

static cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                            size_t count, const cudaMemcpy3DParms& parameters) {
    CUDA_MEMCPY3D copy;
    CUcontext context = nullptr;
    if (const cudaError_t error = driver_copy(parameters, &copy)) return error;
    if (const cudaError_t error = current_context(&context)) return error;
    return checked(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, context));
}

static cudaError_t set_copy(cudaGraphNode_t node, const cudaMemcpy3DParms& parameters) {
    CUDA_MEMCPY3D copy;
    if (const cudaError_t error = driver_copy(parameters, &copy)) return error;
    return checked(cuGraphMemcpyNodeSetParams(node, &copy));
}

API(cudaGraphAddMemcpyNode, v10000,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, const cudaMemcpy3DParms* pCopyParams),
    (pGraphNode, graph, pDependencies, numDependencies, pCopyParams)) {
    return pCopyParams ? add_copy(pGraphNode, graph, pDependencies, numDependencies, *pCopyParams)
                       : cudaErrorInvalidValue;
}

API(cudaGraphAddMemcpyNode1D, v11010,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, void* dst, const void* src, size_t count, cudaMemcpyKind kind),
    (pGraphNode, graph, pDependencies, numDependencies, dst, src, count, kind)) {
    return add_copy(pGraphNode, graph, pDependencies, numDependencies, linear_copy(dst, src, count, kind));
}

API(cudaGraphMemcpyNodeGetParams, v10000, (cudaGraphNode_t node, cudaMemcpy3DParms* pNodeParams),
    (node, pNodeParams)) {
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    CUDA_MEMCPY3D copy{};
    if (const CUresult result = cuGraphMemcpyNodeGetParams(node, &copy)) return checked(result);
    return runtime_copy(copy, pNodeParams);
}

API(cudaGraphMemcpyNodeSetParams, v10000, (cudaGraphNode_t node, const cudaMemcpy3DParms* pNodeParams),
    (node, pNodeParams)) {
    return pNodeParams ? set_copy(node, *pNodeParams) : cudaErrorInvalidValue;
}

API(cudaGraphMemcpyNodeSetParams1D, v11010,
    (cudaGraphNode_t node, void* dst, const void* src, size_t count, cudaMemcpyKind kind),
    (node, dst, src, count, kind)) {
    return set_copy(node, linear_copy(dst, src, count, kind));
}

API(cudaGraphAddMemsetNode, v10000,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, const cudaMemsetParams* pMemsetParams),
    (pGraphNode, graph, pDependencies, numDependencies, pMemsetParams)) {
    if (pMemsetParams == nullptr) return cudaErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS params = driver_params(*pMemsetParams);
    CUcontext context = nullptr;
    if (const cudaError_t error = current_context(&context)) return error;
    return checked(cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &params, context));
}

API(cudaGraphMemsetNodeGetParams, v10000, (cudaGraphNode_t node, cudaMemsetParams* pNodeParams),
    (node, pNodeParams)) {
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    CUDA_MEMSET_NODE_PARAMS params{};
    if (const CUresult result = cuGraphMemsetNodeGetParams(node, &params)) return checked(result);
    *pNodeParams = runtime_params(params);
    return cudaSuccess;
}

API(cudaGraphMemsetNodeSetParams, v10000, (cudaGraphNode_t node, const cudaMemsetParams* pNodeParams),
    (node, pNodeParams)) {
    if (pNodeParams == nullptr) return cudaErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS params = driver_params(*pNodeParams);
    return checked(cuGraphMemsetNodeSetParams(node, &params));
}

API(cudaGraphAddHostNode, v10000,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, const cudaHostNodeParams* pNodeParams),
    (pGraphNode, graph, pDependencies, numDependencies, pNodeParams)) {
    return checked(cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies,
                                      alike<const CUDA_HOST_NODE_PARAMS>(pNodeParams)));
}

API(cudaGraphHostNodeGetParams, v10000, (cudaGraphNode_t node, cudaHostNodeParams* pNodeParams),
    (node, pNodeParams)) {
    return checked(cuGraphHostNodeGetParams(node, alike<CUDA_HOST_NODE_PARAMS>(pNodeParams)));
}

API(cudaGraphHostNodeSetParams, v10000, (cudaGraphNode_t node, const cudaHostNodeParams* pNodeParams),
    (node, pNodeParams)) {
    return checked(cuGraphHostNodeSetParams(node, alike<const CUDA_HOST_NODE_PARAMS>(pNodeParams)));
}

API(cudaGraphAddChildGraphNode, v10000,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, cudaGraph_t childGraph),
    (pGraphNode, graph, pDependencies, numDependencies, childGraph)) {
    return checked(cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies, childGraph));
}

API(cudaGraphChildGraphNodeGetGraph, v10000, (cudaGraphNode_t node, cudaGraph_t* pGraph), (node, pGraph)) {
    return checked(cuGraphChildGraphNodeGetGraph(node, pGraph));
}

API(cudaGraphAddEmptyNode, v10000,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies),
    (pGraphNode, graph, pDependencies, numDependencies)) {
    return checked(cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
}

API(cudaGraphAddEventRecordNode, v11010,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, cudaEvent_t event),
    (pGraphNode, graph, pDependencies, numDependencies, event)) {
    return checked(cuGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

API(cudaGraphEventRecordNodeGetEvent, v11010, (cudaGraphNode_t node, cudaEvent_t* event_out),
    (node, event_out)) {
    return checked(cuGraphEventRecordNodeGetEvent(node, event_out));
}

API(cudaGraphEventRecordNodeSetEvent, v11010, (cudaGraphNode_t node, cudaEvent_t event), (node, event)) {
    return checked(cuGraphEventRecordNodeSetEvent(node, event));
}

API(cudaGraphAddEventWaitNode, v11010,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, cudaEvent_t event),
    (pGraphNode, graph, pDependencies, numDependencies, event)) {
    return checked(cuGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies, event));
}

API(cudaGraphEventWaitNodeGetEvent, v11010, (cudaGraphNode_t node, cudaEvent_t* event_out),
    (node, event_out)) {
    return checked(cuGraphEventWaitNodeGetEvent(node, event_out));
}

API(cudaGraphEventWaitNodeSetEvent, v11010, (cudaGraphNode_t node, cudaEvent_t event), (node, event)) {
    return checked(cuGraphEventWaitNodeSetEvent(node, event));
}

API(cudaGraphAddMemAllocNode, v11040,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, cudaMemAllocNodeParams* nodeParams),
    (pGraphNode, graph, pDependencies, numDependencies, nodeParams)) {
    return checked(cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies,
                                          alike<CUDA_MEM_ALLOC_NODE_PARAMS>(nodeParams)));
}

API(cudaGraphMemAllocNodeGetParams, v11040, (cudaGraphNode_t node, cudaMemAllocNodeParams* params_out),
    (node, params_out)) {
    return checked(cuGraphMemAllocNodeGetParams(node, alike<CUDA_MEM_ALLOC_NODE_PARAMS>(params_out)));
}

API(cudaGraphAddMemFreeNode, v11040,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, void* dptr),
    (pGraphNode, graph, pDependencies, numDependencies, dptr)) {
    return checked(cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies, device(dptr)));
}

API(cudaGraphMemFreeNodeGetParams, v11040, (cudaGraphNode_t node, void* dptr_out), (node, dptr_out)) {
    return checked(cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(dptr_out)));
}

API(cudaGraphAddNode, v12030,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     const cudaGraphEdgeData* dependencyData, size_t numDependencies, cudaGraphNodeParams* nodeParams),
    (pGraphNode, graph, pDependencies, dependencyData, numDependencies, nodeParams)) {
    if (nodeParams == nullptr) return cudaErrorInvalidValue;
    CUcontext context = nullptr;
    CUgraphNodeParams params;
    if (const cudaError_t error = current_context(&context)) return error;
    if (const cudaError_t error = driver_params(*nodeParams, context, &params)) return error;
    const CUresult result =
        cuGraphAddNode(pGraphNode, graph, pDependencies, alike<const CUgraphEdgeData>(dependencyData),
                       numDependencies, &params);
    if (result == CUDA_SUCCESS) take_outputs(params, nodeParams);
    return checked(result);
}

API(cudaGraphNodeSetParams, v12020, (cudaGraphNode_t node, cudaGraphNodeParams* nodeParams),
    (node, nodeParams)) {
    if (nodeParams == nullptr) return cudaErrorInvalidValue;
    CUcontext context = nullptr;
    CUgraphNodeParams params;
    if (const cudaError_t error = current_context(&context)) return error;
    if (const cudaError_t error = driver_params(*nodeParams, context, &params)) return error;
    return checked(cuGraphNodeSetParams(node, &params));
}
