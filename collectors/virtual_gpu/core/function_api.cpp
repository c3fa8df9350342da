// cuFunc*.
#include <algorithm>
#include <cstring>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/function_attributes.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

CUresult function_attribute(const Function& function, CUfunction_attribute attribute, int& value) {
    const KernelResources& r = function.resources;
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            value = static_cast<int>(r.max_threads);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
            value = static_cast<int>(r.static_shared_bytes);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
            value = static_cast<int>(r.constant_bytes);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
            value = static_cast<int>(r.local_bytes);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            value = static_cast<int>(r.registers);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            value = function.sm;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
            value = 0;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            value = function.max_dynamic_shared;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            value = function.carveout;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
            value = 0;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
            value = function.cluster[0];
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
            value = function.cluster[1];
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
            value = function.cluster[2];
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
            value = function.non_portable_cluster;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
            value = function.cluster_policy;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult set_function_attribute(Function& function, CUfunction_attribute attribute, int value) {
    const DeviceLimits& limits = function.context->device->limits;
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
            const int most =
                limits.shared_per_block_optin - static_cast<int>(function.resources.static_shared_bytes);
            if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
            function.max_dynamic_shared = value;
            return CUDA_SUCCESS;
        }
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
            function.carveout = value;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
            function.non_portable_cluster = value != 0;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
            function.cluster_policy = value;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
            // As documented: a size fixed at compile time stays.
            if (function.resources.required_cluster[0] != 0 || value < 0) return CUDA_ERROR_INVALID_VALUE;
            function.cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
            return CUDA_SUCCESS;
        }
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult parameter_info(const Function& function, size_t index, size_t* offset, size_t* size) {
    if (offset == nullptr || index >= function.resources.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = function.resources.parameters[index].offset;
    if (size != nullptr) *size = function.resources.parameters[index].size;
    return CUDA_SUCCESS;
}

namespace {
CUresult find_function(CUfunction handle, Function*& function) {
    function = handles<Function>().get(handle);
    return function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
}  // namespace

namespace driver {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
    Function* function = nullptr;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // A CUkernel is no CUfunction here, as on a real driver: cuKernelGetAttribute is for those.
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    return function_attribute(*function, attribute, *value);
}
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    Function* function = nullptr;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    return set_function_attribute(*function, attribute, value);
}
CUresult cuFuncGetName(const char** name, CUfunction handle) {
    Function* function = nullptr;
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    *name = function->name;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetModule(CUmodule* out, CUfunction handle) {
    Function* function = nullptr;
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    *out = function->module->handle;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
    Function* function = nullptr;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    return parameter_info(*function, index, offset, size);
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
    Function* function = nullptr;
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction handle) {
    Function* function = nullptr;
    return find_function(handle, function);
}
CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
    Function* function = nullptr;
    return find_function(handle, function);
}
CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig) {
    Function* function = nullptr;
    return find_function(handle, function);
}

// The launch interface of CUDA 1 to 3, which cuda.h still declares.
CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
    Function* function = nullptr;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    function->block_shape[0] = x;
    function->block_shape[1] = y;
    function->block_shape[2] = z;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetSharedSize(CUfunction handle, unsigned bytes) {
    Function* function = nullptr;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    function->old_shared = bytes;
    return CUDA_SUCCESS;
}
CUresult cuParamSetSize(CUfunction handle, unsigned bytes) {
    Function* function = nullptr;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    function->old_parameters.resize(bytes);
    return CUDA_SUCCESS;
}
CUresult cuParamSetv(CUfunction handle, int offset, void* value, unsigned bytes) {
    Function* function = nullptr;
    if (CUresult error = find_function(handle, function); error != CUDA_SUCCESS) return error;
    if (value == nullptr || offset < 0 || bytes > (1u << 16) || offset > (1 << 16))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t end = static_cast<size_t>(offset) + bytes;
    function->old_parameters.resize(std::max(function->old_parameters.size(), end));
    std::memcpy(function->old_parameters.data() + offset, value, bytes);
    return CUDA_SUCCESS;
}
CUresult cuParamSeti(CUfunction handle, int offset, unsigned value) {
    return driver::cuParamSetv(handle, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction handle, int offset, float value) {
    return driver::cuParamSetv(handle, offset, &value, sizeof value);
}

}  // namespace driver
}  // namespace attnscope::vgpu
