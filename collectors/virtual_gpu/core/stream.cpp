#include "collectors/virtual_gpu/core/stream.h"

#include <map>

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/core/thread.h"

namespace attnscope::vgpu {

namespace {
// The legacy stream is 7 in every trace of a real GPU; created streams count on from 13 there.
constexpr uint32_t legacy_stream_id = 7;
std::atomic<uint32_t> stream_ids{13};

void raise(ResourceEvent event, const Stream& stream) {
    const Hooks* listener = hooks();
    if (listener == nullptr || listener->resource == nullptr) return;
    listener->resource(event, stream.context->handle, stream.context->id, stream.handle, stream.id);
}

Stream* per_thread_stream(Context& context) {
    thread_local std::map<uint32_t, Stream*> own;  // by context id: ids are never reused
    Stream*& stream = own[context.id];
    if (stream == nullptr) stream = create_stream(context, CU_STREAM_DEFAULT, 0, StreamKind::per_thread);
    return stream;
}
}  // namespace

Stream* create_stream(Context& context, unsigned flags, int priority, StreamKind kind) {
    auto* stream = new Stream();
    stream->context = &context;
    stream->flags = flags;
    stream->priority = priority;
    stream->kind = kind;
    stream->id = kind == StreamKind::legacy ? legacy_stream_id : stream_ids.fetch_add(1);
    stream->handle = static_cast<CUstream>(handles<Stream>().add(stream));
    {
        std::lock_guard lock(context.mutex);
        context.streams.insert(stream);
    }
    raise(ResourceEvent::stream_created, *stream);
    return stream;
}

void destroy_stream(Stream& stream) {
    if (handles<Stream>().remove(stream.handle) == nullptr) return;
    raise(ResourceEvent::stream_destroy_starting, stream);
    leave_capture(stream);
    {
        std::lock_guard lock(stream.context->mutex);
        stream.context->streams.erase(&stream);
    }
    // The legacy and per-thread streams may be held by threads; they go with the process.
    if (stream.kind == StreamKind::created) delete &stream;
}

CUresult find_stream(CUstream handle, Stream*& stream) {
    if (reinterpret_cast<uintptr_t>(handle) <= reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD)) {
        Context* context = nullptr;
        if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
        const bool per_thread =
            handle == CU_STREAM_PER_THREAD || (handle == nullptr && thread_state().per_thread_default_stream);
        stream = per_thread ? per_thread_stream(*context) : context->legacy_stream;
        return CUDA_SUCCESS;
    }
    stream = handles<Stream>().get(handle);
    return stream != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void raise_synchronised(Context& context, const Stream* stream, SyncKind kind, uint32_t event_id) {
    const Hooks* listener = hooks();
    if (listener == nullptr || listener->synchronised == nullptr) return;
    // CUPTI_SYNCHRONIZATION_INVALID_VALUE where a member says nothing.
    constexpr uint32_t none = UINT32_MAX;
    listener->synchronised({current_correlation(), static_cast<uint32_t>(kind), context.id,
                            stream != nullptr ? stream->id : none, event_id != 0 ? event_id : none});
}

}  // namespace attnscope::vgpu
