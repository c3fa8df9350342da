#pragma once
// Parameters of graph nodes, from the runtime's form to the driver's and back. In the runtime's a kernel is a
// host function.
#include "registry.h"

namespace attnscope::vgpu::cudart {

cudaError_t driver_params(const cudaKernelNodeParams& from, CUDA_KERNEL_NODE_PARAMS* to);
cudaKernelNodeParams runtime_params(const CUDA_KERNEL_NODE_PARAMS& from);
CUDA_MEMSET_NODE_PARAMS driver_params(const cudaMemsetParams& from);
cudaMemsetParams runtime_params(const CUDA_MEMSET_NODE_PARAMS& from);
/// Any node: cudaGraphAddNode, cudaGraphNodeSetParams, cudaGraphExecNodeSetParams. `context` is the current
/// one.
cudaError_t driver_params(const cudaGraphNodeParams& from, CUcontext context, CUgraphNodeParams* to);
/// What the driver filled in: the address of an allocation, the bodies of a conditional node.
void take_outputs(const CUgraphNodeParams& from, cudaGraphNodeParams* to);

cudaError_t current_context(CUcontext* context);

}  // namespace attnscope::vgpu::cudart
