#pragma once
// CU_FUNC_ATTRIBUTE_*, shared by cuFunc* and cuKernel*.
#include "collectors/virtual_gpu/core/module.h"

namespace attnscope::vgpu {

CUresult function_attribute(const Function& function, CUfunction_attribute attribute, int& value);
CUresult set_function_attribute(Function& function, CUfunction_attribute attribute, int value);
/// CUDA_ERROR_INVALID_VALUE behind the last parameter.
CUresult parameter_info(const Function& function, size_t index, size_t* offset, size_t* size);

}  // namespace attnscope::vgpu
