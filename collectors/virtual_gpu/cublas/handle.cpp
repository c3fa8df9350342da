// cuBLAS' housekeeping: handles and their settings, versions, names of statuses. Version 13.1.0, the one that
// torch 2.11.0 is built against and that CUDA 13.0's real library answers.
#include "core/api.h"
#include "cublas/context.h"
#include "cublas/types.h"
#include "symbols/answers.h"
#include "symbols/export.h"

namespace attnscope::vgpu::cublas {

namespace {
constexpr int version[3] = {13, 1, 0};

template <class Value>
Status set(Context* context, Value Context::*field, Value value) {
    if (!usable(context)) return not_initialized;
    context->*field = value;
    return success;
}
template <class Value>
Status get(const Context* context, Value Context::*field, Value* value) {
    if (!usable(context)) return not_initialized;
    if (!value) return invalid_value;
    *value = context->*field;
    return success;
}
}  // namespace
}  // namespace attnscope::vgpu::cublas

using namespace attnscope::vgpu::cublas;

ATTNSCOPE_EXPORT Status cublasCreate_v2(Context** handle) {
    return create_context(handle);
}
ATTNSCOPE_EXPORT Status cublasDestroy_v2(Context* handle) {
    if (!usable(handle)) return not_initialized;
    destroy_context(handle);
    return success;
}
ATTNSCOPE_EXPORT Status cublasGetVersion_v2(Context*, int* value) {
    if (!value) return invalid_value;
    *value = version[0] * 10000 + version[1] * 100 + version[2];
    return success;
}
ATTNSCOPE_EXPORT Status cublasGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? success : invalid_value;
}
ATTNSCOPE_EXPORT size_t cublasGetCudartVersion() {
    return 13000;
}
ATTNSCOPE_EXPORT const char* cublasGetStatusName(int status) {
    return status_name(status);
}
ATTNSCOPE_EXPORT const char* cublasGetStatusString(int status) {
    return status_text(status);
}

ATTNSCOPE_EXPORT Status cublasSetStream_v2(Context* handle, void* stream) {
    Status status = set(handle, &Context::stream, stream);
    if (status == success) {  // documented: the workspace goes back to the default pool
        handle->workspace = nullptr;
        handle->workspace_bytes = 0;
    }
    return status;
}
ATTNSCOPE_EXPORT Status cublasGetStream_v2(Context* handle, void** stream) {
    return get(handle, &Context::stream, stream);
}
ATTNSCOPE_EXPORT Status cublasSetWorkspace_v2(Context* handle, void* workspace, size_t bytes) {
    if (!usable(handle)) return not_initialized;
    if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0) return invalid_value;
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return success;
}
ATTNSCOPE_EXPORT Status cublasSetPointerMode_v2(Context* handle, PointerMode mode) {
    if (mode != PointerMode::host && mode != PointerMode::device)
        return usable(handle) ? invalid_value : not_initialized;
    return set(handle, &Context::pointer_mode, mode);
}
ATTNSCOPE_EXPORT Status cublasGetPointerMode_v2(Context* handle, PointerMode* mode) {
    return get(handle, &Context::pointer_mode, mode);
}
ATTNSCOPE_EXPORT Status cublasSetAtomicsMode(Context* handle, int mode) {
    return set(handle, &Context::atomics, mode);
}
ATTNSCOPE_EXPORT Status cublasGetAtomicsMode(Context* handle, int* mode) {
    return get(handle, &Context::atomics, mode);
}
ATTNSCOPE_EXPORT Status cublasSetMathMode(Context* handle, int mode) {
    return set(handle, &Context::math_mode, mode);
}
ATTNSCOPE_EXPORT Status cublasGetMathMode(Context* handle, int* mode) {
    return get(handle, &Context::math_mode, mode);
}
ATTNSCOPE_EXPORT Status cublasSetSmCountTarget(Context* handle, int count) {
    if (!usable(handle)) return not_initialized;
    for (const attnscope::Figure& figure : attnscope::vgpu::device(handle->device).figures)
        if (figure.key == "multiprocessor_count" && count > figure.value) return invalid_value;
    if (count < 0) return invalid_value;
    return set(handle, &Context::sm_count_target, count);
}
ATTNSCOPE_EXPORT Status cublasGetSmCountTarget(Context* handle, int* count) {
    return get(handle, &Context::sm_count_target, count);
}

#define ATTNSCOPE_SETTING(Name, Type, field)                                \
    ATTNSCOPE_EXPORT Status cublasSet##Name(Context* handle, Type value) {  \
        return set(handle, &Context::field, value);                         \
    }                                                                       \
    ATTNSCOPE_EXPORT Status cublasGet##Name(Context* handle, Type* value) { \
        return get(handle, &Context::field, value);                         \
    }
ATTNSCOPE_SETTING(EmulationStrategy, int, emulation_strategy)
ATTNSCOPE_SETTING(EmulationSpecialValuesSupport, int, emulation_special_values)
ATTNSCOPE_SETTING(FixedPointEmulationMantissaControl, int, mantissa_control)
ATTNSCOPE_SETTING(FixedPointEmulationMaxMantissaBitCount, int, mantissa_max_bits)
ATTNSCOPE_SETTING(FixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset)
ATTNSCOPE_SETTING(FixedPointEmulationMantissaBitCountPointer, int*, mantissa_bit_count)

ATTNSCOPE_EXPORT Status cublasLoggerConfigure(int, int, int, const char*) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasSetLoggerCallback(void (*)(const char*)) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasGetLoggerCallback(void (**callback)(const char*)) {
    if (!callback) return invalid_value;
    *callback = nullptr;
    return success;
}
