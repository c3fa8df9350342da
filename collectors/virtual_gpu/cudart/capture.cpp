// Capture of streams into graphs.
#include "api.h"

using namespace attnscope::vgpu::cudart;

API_WITH_STREAM(cudaStreamBeginCapture, v10000, ptsz, v10000,
                (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode)) {
    return checked(cuStreamBeginCapture(driver_stream(stream), enumerator<CUstreamCaptureMode>(mode)));
}

API_WITH_STREAM(cudaStreamBeginCaptureToGraph, v12030, ptsz, v12030,
                (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                 const cudaGraphEdgeData* dependencyData, size_t numDependencies, cudaStreamCaptureMode mode),
                (stream, graph, dependencies, dependencyData, numDependencies, mode)) {
    return checked(cuStreamBeginCaptureToGraph(driver_stream(stream), graph, dependencies,
                                               alike<const CUgraphEdgeData>(dependencyData), numDependencies,
                                               enumerator<CUstreamCaptureMode>(mode)));
}

API_WITHOUT_CONTEXT(cudaThreadExchangeStreamCaptureMode, v10010, (cudaStreamCaptureMode * mode), (mode)) {
    if (const cudaError_t error = initialise()) return error;
    return checked(cuThreadExchangeStreamCaptureMode(alike<CUstreamCaptureMode>(mode)));
}

API_WITH_STREAM(cudaStreamEndCapture, v10000, ptsz, v10000, (cudaStream_t stream, cudaGraph_t* pGraph),
                (stream, pGraph)) {
    return checked(cuStreamEndCapture(driver_stream(stream), pGraph));
}

API_WITH_STREAM(cudaStreamIsCapturing, v10000, ptsz, v10000,
                (cudaStream_t stream, cudaStreamCaptureStatus* pCaptureStatus), (stream, pCaptureStatus)) {
    return checked(cuStreamIsCapturing(driver_stream(stream), alike<CUstreamCaptureStatus>(pCaptureStatus)));
}

API_WITH_STREAM(cudaStreamGetCaptureInfo, v12030, ptsz, v12030,
                (cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out, unsigned long long* id_out,
                 cudaGraph_t* graph_out, const cudaGraphNode_t** dependencies_out,
                 const cudaGraphEdgeData** edgeData_out, size_t* numDependencies_out),
                (stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                 numDependencies_out)) {
    static_assert(sizeof(cuuint64_t) == sizeof(unsigned long long));
    return checked(cuStreamGetCaptureInfo(
        driver_stream(stream), alike<CUstreamCaptureStatus>(captureStatus_out), alike<cuuint64_t>(id_out),
        graph_out, dependencies_out, alike<const CUgraphEdgeData*>(edgeData_out), numDependencies_out));
}

API_WITH_STREAM(cudaStreamUpdateCaptureDependencies, v12030, ptsz, v12030,
                (cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* dependencyData,
                 size_t numDependencies, unsigned int flags),
                (stream, dependencies, dependencyData, numDependencies, flags)) {
    return checked(cuStreamUpdateCaptureDependencies(driver_stream(stream), dependencies,
                                                     alike<const CUgraphEdgeData>(dependencyData),
                                                     numDependencies, flags));
}
