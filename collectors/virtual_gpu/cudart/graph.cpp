// Graphs as wholes: structure, instantiation, launch, user objects.
#include "api.h"

using namespace attnscope::vgpu::cudart;

API(cudaGraphCreate, v10000, (cudaGraph_t * pGraph, unsigned int flags), (pGraph, flags)) {
    return checked(cuGraphCreate(pGraph, flags));
}
API(cudaGraphDestroy, v10000, (cudaGraph_t graph), (graph)) {
    return checked(cuGraphDestroy(graph));
}

API(cudaGraphClone, v10000, (cudaGraph_t * pGraphClone, cudaGraph_t originalGraph),
    (pGraphClone, originalGraph)) {
    return checked(cuGraphClone(pGraphClone, originalGraph));
}

API(cudaGraphNodeFindInClone, v10000,
    (cudaGraphNode_t * pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph),
    (pNode, originalNode, clonedGraph)) {
    return checked(cuGraphNodeFindInClone(pNode, originalNode, clonedGraph));
}

API(cudaGraphNodeGetType, v10000, (cudaGraphNode_t node, cudaGraphNodeType* pType), (node, pType)) {
    return checked(cuGraphNodeGetType(node, alike<CUgraphNodeType>(pType)));
}

API(cudaGraphGetNodes, v10000, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes),
    (graph, nodes, numNodes)) {
    return checked(cuGraphGetNodes(graph, nodes, numNodes));
}

API(cudaGraphGetRootNodes, v10000, (cudaGraph_t graph, cudaGraphNode_t* pRootNodes, size_t* pNumRootNodes),
    (graph, pRootNodes, pNumRootNodes)) {
    return checked(cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

API(cudaGraphGetEdges, v12030,
    (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edgeData,
     size_t* numEdges),
    (graph, from, to, edgeData, numEdges)) {
    return checked(cuGraphGetEdges(graph, from, to, alike<CUgraphEdgeData>(edgeData), numEdges));
}

API(cudaGraphNodeGetDependencies, v12030,
    (cudaGraphNode_t node, cudaGraphNode_t* pDependencies, cudaGraphEdgeData* edgeData,
     size_t* pNumDependencies),
    (node, pDependencies, edgeData, pNumDependencies)) {
    return checked(
        cuGraphNodeGetDependencies(node, pDependencies, alike<CUgraphEdgeData>(edgeData), pNumDependencies));
}

API(cudaGraphNodeGetDependentNodes, v12030,
    (cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes, cudaGraphEdgeData* edgeData,
     size_t* pNumDependentNodes),
    (node, pDependentNodes, edgeData, pNumDependentNodes)) {
    return checked(cuGraphNodeGetDependentNodes(node, pDependentNodes, alike<CUgraphEdgeData>(edgeData),
                                                pNumDependentNodes));
}

API(cudaGraphAddDependencies, v12030,
    (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
     const cudaGraphEdgeData* edgeData, size_t numDependencies),
    (graph, from, to, edgeData, numDependencies)) {
    return checked(
        cuGraphAddDependencies(graph, from, to, alike<const CUgraphEdgeData>(edgeData), numDependencies));
}

API(cudaGraphRemoveDependencies, v12030,
    (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
     const cudaGraphEdgeData* edgeData, size_t numDependencies),
    (graph, from, to, edgeData, numDependencies)) {
    return checked(
        cuGraphRemoveDependencies(graph, from, to, alike<const CUgraphEdgeData>(edgeData), numDependencies));
}

API(cudaGraphDestroyNode, v10000, (cudaGraphNode_t node), (node)) {
    return checked(cuGraphDestroyNode(node));
}

API(cudaGraphInstantiate, v12000, (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
    (pGraphExec, graph, flags)) {
    return checked(cuGraphInstantiate(pGraphExec, graph, flags));
}

API(cudaGraphInstantiateWithFlags, v11040,
    (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags), (pGraphExec, graph, flags)) {
    return checked(cuGraphInstantiate(pGraphExec, graph, flags));
}

API_WITH_STREAM(cudaGraphInstantiateWithParams, v12000, ptsz, v12000,
                (cudaGraphExec_t * pGraphExec, cudaGraph_t graph,
                 cudaGraphInstantiateParams* instantiateParams),
                (pGraphExec, graph, instantiateParams)) {
    return checked(cuGraphInstantiateWithParams(pGraphExec, graph,
                                                alike<CUDA_GRAPH_INSTANTIATE_PARAMS>(instantiateParams)));
}

API(cudaGraphExecGetFlags, v12000, (cudaGraphExec_t graphExec, unsigned long long* flags),
    (graphExec, flags)) {
    return checked(cuGraphExecGetFlags(graphExec, alike<cuuint64_t>(flags)));
}

API(cudaGraphExecUpdate, v10020,
    (cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo* resultInfo),
    (hGraphExec, hGraph, resultInfo)) {
    return checked(cuGraphExecUpdate(hGraphExec, hGraph, alike<CUgraphExecUpdateResultInfo>(resultInfo)));
}

API_WITH_STREAM(cudaGraphUpload, v10000, ptsz, v10000, (cudaGraphExec_t graphExec, cudaStream_t stream),
                (graphExec, stream)) {
    return checked(cuGraphUpload(graphExec, driver_stream(stream)));
}

API_WITH_STREAM(cudaGraphLaunch, v10000, ptsz, v10000, (cudaGraphExec_t graphExec, cudaStream_t stream),
                (graphExec, stream)) {
    return checked(cuGraphLaunch(graphExec, driver_stream(stream)));
}

API(cudaGraphExecDestroy, v10000, (cudaGraphExec_t graphExec), (graphExec)) {
    return checked(cuGraphExecDestroy(graphExec));
}

API(cudaGraphDebugDotPrint, v11030, (cudaGraph_t graph, const char* path, unsigned int flags),
    (graph, path, flags)) {
    return checked(cuGraphDebugDotPrint(graph, path, flags));
}

API(cudaGraphNodeSetEnabled, v11060,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled),
    (hGraphExec, hNode, isEnabled)) {
    return checked(cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}

API(cudaGraphNodeGetEnabled, v11060,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int* isEnabled),
    (hGraphExec, hNode, isEnabled)) {
    return checked(cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}

API(cudaUserObjectCreate, v11030,
    (cudaUserObject_t * object_out, void* ptr, cudaHostFn_t destroy, unsigned int initialRefcount,
     unsigned int flags),
    (object_out, ptr, destroy, initialRefcount, flags)) {
    return checked(cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags));
}

API(cudaUserObjectRetain, v11030, (cudaUserObject_t object, unsigned int count), (object, count)) {
    return checked(cuUserObjectRetain(object, count));
}

API(cudaUserObjectRelease, v11030, (cudaUserObject_t object, unsigned int count), (object, count)) {
    return checked(cuUserObjectRelease(object, count));
}

API(cudaGraphRetainUserObject, v11030,
    (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),
    (graph, object, count, flags)) {
    return checked(cuGraphRetainUserObject(graph, object, count, flags));
}

API(cudaGraphReleaseUserObject, v11030, (cudaGraph_t graph, cudaUserObject_t object, unsigned int count),
    (graph, object, count)) {
    return checked(cuGraphReleaseUserObject(graph, object, count));
}

API(cudaGraphConditionalHandleCreate, v12030,
    (cudaGraphConditionalHandle * pHandle_out, cudaGraph_t graph, unsigned int defaultLaunchValue,
     unsigned int flags),
    (pHandle_out, graph, defaultLaunchValue, flags)) {
    CUcontext context = nullptr;
    if (const CUresult result = cuCtxGetCurrent(&context)) return checked(result);
    return checked(cuGraphConditionalHandleCreate(alike<CUgraphConditionalHandle>(pHandle_out), graph,
                                                  context, defaultLaunchValue, flags));
}
