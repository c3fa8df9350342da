#pragma once
#include <cuda.h>

#include <vector>

namespace attnscope::vgpu {

/// Device code in a file. CUDA_ERROR_FILE_NOT_FOUND, CUDA_ERROR_INVALID_IMAGE for an empty one.
CUresult read_code_file(const char* path, std::vector<char>& bytes);

}  // namespace attnscope::vgpu
