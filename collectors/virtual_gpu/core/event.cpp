#include "collectors/virtual_gpu/core/event.h"

#include <algorithm>

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/entry.h"
#include "collectors/virtual_gpu/core/graph.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "collectors/virtual_gpu/core/observer.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
std::atomic<uint32_t> event_ids{0};

CUresult find_event(CUevent handle, Event*& event) {
    event = handles<Event>().get(handle);
    return event != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void inherit_ticket(Stream& stream, uint64_t ticket) {
    uint64_t own = stream.host_ticket.load();
    while (own < ticket && !stream.host_ticket.compare_exchange_weak(own, ticket)) {
    }
}
}  // namespace

CUresult record_event(Event& event, Stream& stream, unsigned flags) {
    if (stream.capture.load(std::memory_order_acquire) != nullptr) {
        if ((flags & CU_EVENT_RECORD_EXTERNAL) != 0) return add_captured(stream, EventRecordNode{&event});
        return capture_event_record(event, stream);
    }
    if (CUresult error = refuse_implicit_capture(stream); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(event.mutex);
    event.recorded = true;
    event.capture_id = 0;
    event.capture_dependencies.clear();
    event.host_ticket = stream.host_ticket.load();
    return CUDA_SUCCESS;
}

CUresult wait_event(Stream& stream, Event& event, unsigned flags) {
    uint64_t capture_id, ticket;
    {
        std::lock_guard lock(event.mutex);
        capture_id = event.capture_id;
        ticket = event.host_ticket;
    }
    const bool capturing = stream.capture.load(std::memory_order_acquire) != nullptr;
    if (capturing && (flags & CU_EVENT_WAIT_EXTERNAL) != 0)
        return add_captured(stream, EventWaitNode{&event});
    if (capturing || capture_id != 0) return capture_event_wait(event, stream);
    if (CUresult error = refuse_implicit_capture(stream); error != CUDA_SUCCESS) return error;
    inherit_ticket(stream, ticket);
    raise_synchronised(*stream.context, &stream, SyncKind::stream_wait_event, event.id);
    return CUDA_SUCCESS;
}

namespace driver {

CUresult cuEventCreate(CUevent* out, unsigned flags) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    constexpr unsigned valid = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if ((flags & ~valid) != 0 ||
        ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0))
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    auto* event = new Event();
    event->id = event_ids.fetch_add(1) + 1;
    event->context = context;
    event->flags = flags;
    event->handle = static_cast<CUevent>(handles<Event>().add(event));
    *out = event->handle;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
    Event* event = handles<Event>().remove(handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    delete event;
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent handle) {
    return driver::cuEventDestroy_v2(handle);
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
    if ((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) != 0) return CUDA_ERROR_INVALID_VALUE;
    Event* event = nullptr;
    Stream* stream = nullptr;
    if (CUresult error = find_event(handle, event); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_stream(stream_handle, stream); error != CUDA_SUCCESS) return error;
    if (event->context != stream->context) return CUDA_ERROR_INVALID_HANDLE;
    return record_event(*event, *stream, flags);
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    return driver::cuEventRecordWithFlags(event, stream, 0);
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
    if ((flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) != 0) return CUDA_ERROR_INVALID_VALUE;
    Event* event = nullptr;
    Stream* stream = nullptr;
    if (CUresult error = find_event(handle, event); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_stream(stream_handle, stream); error != CUDA_SUCCESS) return error;
    return wait_event(*stream, *event, flags);
}

CUresult cuEventQuery(CUevent handle) {
    Event* event = nullptr;
    if (CUresult error = find_event(handle, event); error != CUDA_SUCCESS) return error;
    {
        std::lock_guard lock(event->mutex);
        if (event->capture_id != 0) return CUDA_ERROR_CAPTURED_EVENT;
    }
    if (CUresult error = refuse_unsafe_call(); error != CUDA_SUCCESS) return error;
    std::lock_guard lock(event->mutex);
    return host_ticket_done(event->host_ticket) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
    Event* event = nullptr;
    if (CUresult error = find_event(handle, event); error != CUDA_SUCCESS) return error;
    uint64_t ticket;
    {
        std::lock_guard lock(event->mutex);
        if (event->capture_id != 0) return CUDA_ERROR_CAPTURED_EVENT;
        ticket = event->host_ticket;
    }
    if (CUresult error = refuse_unsafe_call(); error != CUDA_SUCCESS) return error;
    wait_for_host_ticket(ticket);
    raise_synchronised(*event->context, nullptr, SyncKind::event, event->id);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start_handle, CUevent end_handle) {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Event *start = nullptr, *end = nullptr;
    if (CUresult error = find_event(start_handle, start); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_event(end_handle, end); error != CUDA_SUCCESS) return error;
    if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
    for (Event* event : {start, end}) {
        std::lock_guard lock(event->mutex);
        if (event->capture_id != 0) return CUDA_ERROR_CAPTURED_EVENT;
        if (!event->recorded) return CUDA_ERROR_INVALID_HANDLE;
        if (!host_ticket_done(event->host_ticket)) return CUDA_ERROR_NOT_READY;
    }
    *milliseconds = 0.0f;
    report_uncomputed_read(sizeof(float), "event_time", "0 ms");
    return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return driver::cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // namespace driver
}  // namespace attnscope::vgpu
