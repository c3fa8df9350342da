// cuCtx*.
#include <algorithm>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/entry.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "collectors/virtual_gpu/core/thread.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
constexpr unsigned valid_flags = CU_CTX_FLAGS_MASK;

CUresult make_context(CUcontext* out, unsigned flags, CUdevice ordinal) {
    if (out == nullptr || (flags & ~valid_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    Context* context = create_context(*device, flags, false);
    thread_state().contexts.push_back(context);
    *out = context->handle;
    return CUDA_SUCCESS;
}

// CU_LIMIT_* with the defaults that the driver documents or shows; the others are not settable here.
size_t default_limit(int limit, const Context& context) {
    switch (limit) {
        case CU_LIMIT_STACK_SIZE:
            return 1024;
        case CU_LIMIT_PRINTF_FIFO_SIZE:
            return 1u << 20;
        case CU_LIMIT_MALLOC_HEAP_SIZE:
            return 8u << 20;
        case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
            return 2;
        case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
            return 2048;
        case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
            return 64;
        case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
            (void)context;
            return 0;
        default:
            return 0;
    }
}
bool known_limit(int limit) {
    return limit >= CU_LIMIT_STACK_SIZE && limit <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
}

CUresult context_or_current(CUcontext handle, Context*& context) {
    if (handle == nullptr) return current_context(context);
    context = find_context(handle);
    return context != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult synchronise(Context& context) {
    if (CUresult error = refuse_during_capture(context); error != CUDA_SUCCESS) return error;
    wait_for_host_functions();
    raise_synchronised(context, nullptr, SyncKind::context);
    return CUDA_SUCCESS;
}
}  // namespace

namespace driver {

CUresult cuCtxCreate(CUcontext* out, unsigned flags, CUdevice device) {
    return make_context(out, flags, device);
}
CUresult cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice device) {
    return make_context(out, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext* out, CUexecAffinityParam* affinity, int count, unsigned flags,
                        CUdevice device) {
    // An affinity limits the SMs (MPS alone): kernels would be described wrongly.
    if (affinity != nullptr && count > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return make_context(out, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* parameters, unsigned flags, CUdevice device) {
    if (parameters != nullptr && parameters->execAffinityParams != nullptr &&
        parameters->numExecAffinityParams > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (parameters != nullptr && parameters->cigParams != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    return make_context(out, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    Context* context = find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    auto& stack = thread_state().contexts;
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    destroy_context(*context);
    return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext handle) {
    return driver::cuCtxDestroy_v2(handle);
}

CUresult cuCtxAttach(CUcontext* out, unsigned flags) {
    if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(context->mutex);
    context->attachments++;
    *out = context->handle;
    return CUDA_SUCCESS;
}
CUresult cuCtxDetach(CUcontext handle) {
    Context* context = find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    {
        std::lock_guard lock(context->mutex);
        if (--context->attachments > 0) return CUDA_SUCCESS;
    }
    return driver::cuCtxDestroy_v2(handle);
}

CUresult cuCtxGetCurrent(CUcontext* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto& stack = thread_state().contexts;
    *out = stack.empty() || stack.back() == nullptr ? nullptr : stack.back()->handle;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext handle) {
    Context* context = nullptr;
    if (handle != nullptr && (context = find_context(handle)) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    set_current_context(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    Context* context = find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    thread_state().contexts.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext handle) {
    return driver::cuCtxPushCurrent_v2(handle);
}
CUresult cuCtxPopCurrent_v2(CUcontext* out) {
    auto& stack = thread_state().contexts;
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (out != nullptr) *out = stack.back()->handle;
    stack.pop_back();
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* out) {
    return driver::cuCtxPopCurrent_v2(out);
}

CUresult cuCtxGetDevice_v2(CUdevice* out, CUcontext handle) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = context_or_current(handle, context); error != CUDA_SUCCESS) return error;
    *out = context->device->ordinal;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* out) {
    return driver::cuCtxGetDevice_v2(out, nullptr);
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = context_or_current(handle, context); error != CUDA_SUCCESS) return error;
    *out = context->id;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetFlags(unsigned* flags) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    *flags = context->flags;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetFlags(unsigned flags) {
    if ((flags & ~valid_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    context->flags = flags;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = context_or_current(handle, context); error != CUDA_SUCCESS) return error;
    *version = 3020;  // what current drivers answer
    return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    return synchronise(*context);
}
CUresult cuCtxSynchronize_v2(CUcontext handle) {
    Context* context = nullptr;
    if (CUresult error = context_or_current(handle, context); error != CUDA_SUCCESS) return error;
    return synchronise(*context);
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!known_limit(limit)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(context->mutex);
    const auto set = context->limits.find(limit);
    *value = set != context->limits.end() ? set->second : default_limit(limit, *context);
    return CUDA_SUCCESS;
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    if (!known_limit(limit)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(context->mutex);
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    *out = CU_FUNC_CACHE_PREFER_NONE;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCacheConfig(CUfunc_cache) {
    Context* context = nullptr;
    return current_context(context);  // a preference that the driver may ignore
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* out) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    *out = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
    Context* context = nullptr;
    return current_context(context);  // fixed on every device since Maxwell: accepted and ignored, as there
}
CUresult cuCtxResetPersistingL2Cache() {
    Context* context = nullptr;
    return current_context(context);
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = greatest_priority;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    const Context* peer = find_context(handle);
    if (peer == nullptr || peer == context) return CUDA_ERROR_INVALID_CONTEXT;
    if (peer->device == context->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    std::lock_guard lock(context->mutex);
    return context->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}
CUresult cuCtxDisablePeerAccess(CUcontext handle) {
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    const Context* peer = find_context(handle);
    if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    std::lock_guard lock(context->mutex);
    return context->peers.erase(peer) != 0 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace driver
}  // namespace attnscope::vgpu
