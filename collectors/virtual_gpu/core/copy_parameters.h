#pragma once
// CUDA_MEMCPY3D <-> CopyRequest.
#include <cuda.h>

#include "collectors/virtual_gpu/core/copy.h"

namespace attnscope::vgpu {

/// CUDA_ERROR_INVALID_VALUE for pitches smaller than a row; CUDA_ERROR_NOT_SUPPORTED, with a diagnostic, for
/// CUDA arrays.
CUresult read_copy_parameters(const CUDA_MEMCPY3D& parameters, CopyRequest& copy, Side& to, Side& from);
/// For a copy that was not made from CUDA_MEMCPY3D.
CUDA_MEMCPY3D linear_parameters(const CopyRequest& copy);

}  // namespace attnscope::vgpu
