#include "graph_params.h"

#include <cstring>

#include "copies.h"

namespace attnscope::vgpu::cudart {

cudaError_t current_context(CUcontext* context) {
    return checked(cuCtxGetCurrent(context));
}

cudaError_t driver_params(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS* to) {
    Function function;
    if (const cudaError_t error = find_function(from.func, &function)) return error;
    *to = {};
    to->func = function.kernel ? nullptr : function.function;
    to->kern = function.kernel;
    to->gridDimX = from.gridDim.x;
    to->gridDimY = from.gridDim.y;
    to->gridDimZ = from.gridDim.z;
    to->blockDimX = from.blockDim.x;
    to->blockDimY = from.blockDim.y;
    to->blockDimZ = from.blockDim.z;
    to->sharedMemBytes = from.sharedMemBytes;
    to->kernelParams = from.kernelParams;
    to->extra = from.extra;
    return current_context(&to->ctx);
}

cudaKernelNodeParams runtime_params(const CUDA_KERNEL_NODE_PARAMS& from) {
    return {host_function(from.func, from.kern),
            dim3(from.gridDimX, from.gridDimY, from.gridDimZ),
            dim3(from.blockDimX, from.blockDimY, from.blockDimZ),
            from.sharedMemBytes,
            from.kernelParams,
            from.extra};
}

CUDA_MEMSET_NODE_PARAMS driver_params(const cudaMemsetParams& from) {
    return {device(from.dst), from.pitch, from.value, from.elementSize, from.width, from.height};
}

cudaMemsetParams runtime_params(const CUDA_MEMSET_NODE_PARAMS& from) {
    return {
        reinterpret_cast<void*>(from.dst), from.pitch, from.value, from.elementSize, from.width, from.height};
}

cudaError_t driver_params(const cudaGraphNodeParams& from, CUcontext context, CUgraphNodeParams* to) {
    *to = {};
    to->type = enumerator<CUgraphNodeType>(from.type);
    switch (from.type) {
        case cudaGraphNodeTypeKernel: {
            CUDA_KERNEL_NODE_PARAMS kernel;
            const cudaKernelNodeParamsV2& k = from.kernel;
            const cudaKernelNodeParams plain{k.func,           k.gridDim,      k.blockDim,
                                             k.sharedMemBytes, k.kernelParams, k.extra};
            if (const cudaError_t error = driver_params(plain, &kernel)) return error;
            static_assert(sizeof kernel == sizeof to->kernel);
            std::memcpy(&to->kernel, &kernel, sizeof kernel);
            return cudaSuccess;
        }
        case cudaGraphNodeTypeMemcpy:
            to->memcpy.copyCtx = context;
            return driver_copy(from.memcpy.copyParams, &to->memcpy.copyParams);
        case cudaGraphNodeTypeMemset: {
            const cudaMemsetParamsV2& m = from.memset;
            to->memset = {device(m.dst), m.pitch, m.value, m.elementSize, m.width, m.height, context};
            return cudaSuccess;
        }
        case cudaGraphNodeTypeConditional:
            to->conditional.handle = from.conditional.handle;
            to->conditional.type = enumerator<CUgraphConditionalNodeType>(from.conditional.type);
            to->conditional.size = from.conditional.size;
            to->conditional.ctx = context;
            return cudaSuccess;
        case cudaGraphNodeTypeHost:
        case cudaGraphNodeTypeGraph:
        case cudaGraphNodeTypeEmpty:
        case cudaGraphNodeTypeWaitEvent:
        case cudaGraphNodeTypeEventRecord:
        case cudaGraphNodeTypeExtSemaphoreSignal:
        case cudaGraphNodeTypeExtSemaphoreWait:
        case cudaGraphNodeTypeMemAlloc:
        case cudaGraphNodeTypeMemFree:
            // The same structures under other names.
            static_assert(sizeof from.reserved1 == sizeof to->reserved1);
            std::memcpy(&to->reserved1, &from.reserved1, sizeof from.reserved1);
            return cudaSuccess;
        default:
            return cudaErrorInvalidValue;
    }
}

void take_outputs(const CUgraphNodeParams& from, cudaGraphNodeParams* to) {
    if (to->type == cudaGraphNodeTypeMemAlloc) to->alloc.dptr = reinterpret_cast<void*>(from.alloc.dptr);
    if (to->type == cudaGraphNodeTypeConditional) to->conditional.phGraph_out = from.conditional.phGraph_out;
}

}  // namespace attnscope::vgpu::cudart
