// Copies to and from variables of a program's device code.
#include "copies.h"
#include "registry.h"

using namespace attnscope::vgpu::cudart;

/// cudaErrorInvalidValue for a range outside the variable.
static cudaError_t locate(const void* symbol, size_t count, size_t offset, void** address) {
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (const cudaError_t error = find_variable(symbol, &base, &bytes)) return error;
    if (offset > bytes || count > bytes - offset) return cudaErrorInvalidValue;
    *address = reinterpret_cast<void*>(base + offset);
    return cudaSuccess;
}

static cudaError_t kind_to(cudaMemcpyKind kind) {
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
}
static cudaError_t kind_from(cudaMemcpyKind kind) {
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault
               ? cudaSuccess
               : cudaErrorInvalidMemcpyDirection;
}

API_WITH_STREAM(cudaMemcpyToSymbol, v3020, ptds, v7000,
                (const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind),
                (symbol, src, count, offset, kind)) {
    void* address = nullptr;
    if (const cudaError_t error = kind_to(kind)) return error;
    if (const cudaError_t error = locate(symbol, count, offset, &address)) return error;
    return copy_now(address, src, count, kind);
}

API_WITH_STREAM(cudaMemcpyFromSymbol, v3020, ptds, v7000,
                (void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind),
                (dst, symbol, count, offset, kind)) {
    void* address = nullptr;
    if (const cudaError_t error = kind_from(kind)) return error;
    if (const cudaError_t error = locate(symbol, count, offset, &address)) return error;
    return copy_now(dst, address, count, kind);
}

API_WITH_STREAM(cudaMemcpyToSymbolAsync, v3020, ptsz, v7000,
                (const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind,
                 cudaStream_t stream),
                (symbol, src, count, offset, kind, stream)) {
    void* address = nullptr;
    if (const cudaError_t error = kind_to(kind)) return error;
    if (const cudaError_t error = locate(symbol, count, offset, &address)) return error;
    return copy_later(address, src, count, kind, stream);
}

API_WITH_STREAM(cudaMemcpyFromSymbolAsync, v3020, ptsz, v7000,
                (void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                 cudaStream_t stream),
                (dst, symbol, count, offset, kind, stream)) {
    void* address = nullptr;
    if (const cudaError_t error = kind_from(kind)) return error;
    if (const cudaError_t error = locate(symbol, count, offset, &address)) return error;
    return copy_later(dst, address, count, kind, stream);
}

static cudaError_t symbol_copy(const void* symbol, void* other, size_t count, size_t offset,
                               cudaMemcpyKind kind, bool to_symbol, CUDA_MEMCPY3D* copy) {
    void* address = nullptr;
    if (const cudaError_t error = to_symbol ? kind_to(kind) : kind_from(kind)) return error;
    if (const cudaError_t error = locate(symbol, count, offset, &address)) return error;
    return driver_copy(
        to_symbol ? linear_copy(address, other, count, kind) : linear_copy(other, address, count, kind),
        copy);
}

static cudaError_t context(CUcontext* current) {
    return checked(cuCtxGetCurrent(current));
}

API(cudaGraphAddMemcpyNodeToSymbol, v11010,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, const void* symbol, const void* src, size_t count, size_t offset,
     cudaMemcpyKind kind),
    (pGraphNode, graph, pDependencies, numDependencies, symbol, src, count, offset, kind)) {
    CUDA_MEMCPY3D copy;
    CUcontext current = nullptr;
    if (const cudaError_t error =
            symbol_copy(symbol, const_cast<void*>(src), count, offset, kind, true, &copy))
        return error;
    if (const cudaError_t error = context(&current)) return error;
    return checked(cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &copy, current));
}

API(cudaGraphAddMemcpyNodeFromSymbol, v11010,
    (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
     size_t numDependencies, void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind),
    (pGraphNode, graph, pDependencies, numDependencies, dst, symbol, count, offset, kind)) {
    CUDA_MEMCPY3D copy;
    CUcontext current = nullptr;
    if (const cudaError_t error = symbol_copy(symbol, dst, count, offset, kind, false, &copy)) return error;
    if (const cudaError_t error = context(&current)) return error;
    return checked(cuGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &copy, current));
}

API(cudaGraphMemcpyNodeSetParamsToSymbol, v11010,
    (cudaGraphNode_t node, const void* symbol, const void* src, size_t count, size_t offset,
     cudaMemcpyKind kind),
    (node, symbol, src, count, offset, kind)) {
    CUDA_MEMCPY3D copy;
    if (const cudaError_t error =
            symbol_copy(symbol, const_cast<void*>(src), count, offset, kind, true, &copy))
        return error;
    return checked(cuGraphMemcpyNodeSetParams(node, &copy));
}

API(cudaGraphMemcpyNodeSetParamsFromSymbol, v11010,
    (cudaGraphNode_t node, void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind),
    (node, dst, symbol, count, offset, kind)) {
    CUDA_MEMCPY3D copy;
    if (const cudaError_t error = symbol_copy(symbol, dst, count, offset, kind, false, &copy)) return error;
    return checked(cuGraphMemcpyNodeSetParams(node, &copy));
}

API(cudaGraphExecMemcpyNodeSetParamsToSymbol, v11010,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, const void* symbol, const void* src, size_t count,
     size_t offset, cudaMemcpyKind kind),
    (hGraphExec, node, symbol, src, count, offset, kind)) {
    CUDA_MEMCPY3D copy;
    CUcontext current = nullptr;
    if (const cudaError_t error =
            symbol_copy(symbol, const_cast<void*>(src), count, offset, kind, true, &copy))
        return error;
    if (const cudaError_t error = context(&current)) return error;
    return checked(cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, current));
}

API(cudaGraphExecMemcpyNodeSetParamsFromSymbol, v11010,
    (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst, const void* symbol, size_t count,
     size_t offset, cudaMemcpyKind kind),
    (hGraphExec, node, dst, symbol, count, offset, kind)) {
    CUDA_MEMCPY3D copy;
    CUcontext current = nullptr;
    if (const cudaError_t error = symbol_copy(symbol, dst, count, offset, kind, false, &copy)) return error;
    if (const cudaError_t error = context(&current)) return error;
    return checked(cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, current));
}
