// cuDNN's housekeeping: handle, stream, versions, texts. Version 9.19.0, the one that torch 2.11.0 asks for:
// LibTorch's choice of the attention implementation depends on it.
#include <cstring>

#include "cudnn/types.h"
#include "symbols/answers.h"
#include "symbols/export.h"
#include "symbols/primary_context.h"

using namespace attnscope::vgpu::cudnn;

namespace {
constexpr int version[3] = {9, 19, 0};
thread_local std::string last_error;
}  // namespace

namespace attnscope::vgpu::cudnn {
Status fail(Status status, const std::string& message) {
    last_error = message;
    return status;
}
}  // namespace attnscope::vgpu::cudnn

ATTNSCOPE_EXPORT size_t cudnnGetVersion() {
    return version[0] * 10000 + version[1] * 100 + version[2];
}
ATTNSCOPE_EXPORT size_t cudnnGetMaxDeviceVersion() {
    return 1210;
}
ATTNSCOPE_EXPORT size_t cudnnGetCudartVersion() {
    return 13010;
}  // what the real 9.19.0 for CUDA 13 answers
ATTNSCOPE_EXPORT Status cudnnGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? success : bad_param;
}
ATTNSCOPE_EXPORT const char* cudnnGetErrorString(int status) {
    return status_name(status);
}
ATTNSCOPE_EXPORT void cudnnGetLastErrorString(char* message, size_t size) {
    if (!message || size == 0) return;
    std::strncpy(message, last_error.c_str(), size - 1);
    message[size - 1] = '\0';
}
ATTNSCOPE_EXPORT Status cudnnOpsVersionCheck() {
    return success;
}
ATTNSCOPE_EXPORT Status cudnnCnnVersionCheck() {
    return success;
}
ATTNSCOPE_EXPORT Status cudnnAdvVersionCheck() {
    return success;
}
ATTNSCOPE_EXPORT Status cudnnGraphVersionCheck() {
    return success;
}
ATTNSCOPE_EXPORT Status cudnnSetCallback(unsigned, void*, void*) {
    return success;
}
ATTNSCOPE_EXPORT Status cudnnQueryRuntimeError(Context* handle, Status* status, int, void*) {
    if (!usable(handle) || !status) return bad_param;
    *status = success;
    return success;
}

ATTNSCOPE_EXPORT Status cudnnCreate(Context** handle) {
    if (!handle) return bad_param_null_pointer;
    *handle = nullptr;
    if (!attnscope::vgpu::ensure_context()) return fail(not_initialized, "no CUDA device");
    const attnscope::Gpu& gpu = attnscope::vgpu::device(attnscope::vgpu::current_device());
    if (gpu.major * 10 + gpu.minor < 75)
        return fail(arch_mismatch, "cuDNN 9.19 for CUDA 13 needs compute capability 7.5");
    *handle = new Context;
    (*handle)->device = attnscope::vgpu::current_device();
    return success;
}
ATTNSCOPE_EXPORT Status cudnnDestroy(Context* handle) {
    if (!usable(handle)) return bad_param;
    handle->magic = 0;
    delete handle;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnSetStream(Context* handle, void* stream) {
    if (!usable(handle)) return bad_param;
    handle->stream = stream;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnGetStream(Context* handle, void** stream) {
    if (!usable(handle) || !stream) return bad_param;
    *stream = handle->stream;
    return success;
}
