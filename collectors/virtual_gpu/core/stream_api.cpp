// cuStream*, but for capture.
#include <cstring>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/copy.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu::driver {

CUresult cuStreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
    if (out == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    // Values outside of the range are clamped, as documented.
    priority = priority > 0 ? 0 : priority < greatest_priority ? greatest_priority : priority;
    *out = create_stream(*context, flags, priority, StreamKind::created)->handle;
    return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* out, unsigned flags) {
    return driver::cuStreamCreateWithPriority(out, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    Stream* stream = handles<Stream>().get(handle);
    if (stream == nullptr || stream->kind != StreamKind::created) return CUDA_ERROR_INVALID_HANDLE;
    destroy_stream(*stream);
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream handle) {
    return driver::cuStreamDestroy_v2(handle);
}

CUresult cuStreamSynchronize(CUstream handle) {
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (CUresult error = refuse_while_capturing(*stream); error != CUDA_SUCCESS) return error;
    wait_for_host_ticket(stream->host_ticket);
    raise_synchronised(*stream->context, stream, SyncKind::stream);
    return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream handle) {
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (CUresult error = refuse_while_capturing(*stream); error != CUDA_SUCCESS) return error;
    return host_ticket_done(stream->host_ticket) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
    Stream* stream = nullptr;
    if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
    Stream* stream = nullptr;
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    *flags = stream->flags;
    return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
    Stream* stream = nullptr;
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    *id = stream->id;
    return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
    Stream* stream = nullptr;
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    *context = stream->context->handle;
    return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
    if (green == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *green = nullptr;
    return driver::cuStreamGetCtx(handle, context);
}
CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
    Stream* stream = nullptr;
    if (green == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    *green = nullptr;
    return CUDA_SUCCESS;
}
CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
    Stream* stream = nullptr;
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    *device = stream->context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* user, unsigned flags) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (CUresult error = refuse_while_capturing(*stream); error != CUDA_SUCCESS) return error;
    stream->host_ticket =
        run_on_host_worker([handle, callback, user] { callback(handle, CUDA_SUCCESS, user); });
    return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, size_t, unsigned) {
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    // Which stream may touch managed memory: nothing runs, so nothing can be touched too early.
    return live_allocation(pointer) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
    Stream* stream = nullptr;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    std::memset(value, 0, sizeof *value);
    switch (attribute) {
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            value->priority = stream->priority;
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
            value->syncPolicy = CU_SYNC_POLICY_AUTO;
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            value->memSyncDomainMap = {0, 1};
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}
CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute, const CUstreamAttrValue* value) {
    Stream* stream = nullptr;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    switch (attribute) {
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        // Hints for caches and waits: they change time alone.
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
            if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) stream->priority = value->priority;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    Stream *destination = nullptr, *source = nullptr;
    if (CUresult error = find_stream(to, destination); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_stream(from, source); error != CUDA_SUCCESS) return error;
    destination->priority = source->priority;
    return CUDA_SUCCESS;
}

}  // namespace attnscope::vgpu::driver
