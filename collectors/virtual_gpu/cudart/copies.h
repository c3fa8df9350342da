#pragma once
// The runtime's descriptions of a copy, turned into the driver's.
#include "api.h"

namespace attnscope::vgpu::cudart {

struct MemoryTypes {
    CUmemorytype source;
    CUmemorytype destination;
};
/// cudaErrorInvalidMemcpyDirection for what is not a kind.
cudaError_t memory_types(cudaMemcpyKind kind, MemoryTypes* types);

inline CUarray driver_array(cudaArray_const_t array) {
    return reinterpret_cast<CUarray>(const_cast<cudaArray*>(array));
}
/// Bytes of one element; cudaErrorInvalidResourceHandle for what is not an array.
cudaError_t element_bytes(cudaArray_const_t array, size_t* bytes);

/// cudaMemcpy3D's offsets and width are in elements where an array takes part, in bytes otherwise; the
/// driver's always in bytes.
cudaError_t driver_copy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);
/// The way back, for a node of a graph.
cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* parameters);
/// cudaMemcpy's arguments as a copy node wants them.
cudaMemcpy3DParms linear_copy(void* destination, const void* source, size_t count, cudaMemcpyKind kind);

cudaError_t copy_now(void* destination, const void* source, size_t count, cudaMemcpyKind kind);
cudaError_t copy_later(void* destination, const void* source, size_t count, cudaMemcpyKind kind,
                       cudaStream_t stream);

/// After an asynchronous call on the thread's own stream: what a _ptds function waits for.
cudaError_t wait_for_own_stream(CUresult issued);

}  // namespace attnscope::vgpu::cudart
