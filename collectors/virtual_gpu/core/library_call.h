#pragma once
// A call into a library (cuBLAS, cuDNN) as one operation of a stream or graph.
#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/issue.h"

namespace attnscope::vgpu {

void perform_library_call(const LibraryCall& call, const Issue& issue);

}  // namespace attnscope::vgpu
