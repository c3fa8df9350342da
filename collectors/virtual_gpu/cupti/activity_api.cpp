// The Activity API's exported functions, but for external correlation (external_ids.cpp) and queries
// (queries.cpp).
#include <cupti.h>

#include <string>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/activity_switches.h"
#include "collectors/virtual_gpu/cupti/buffers.h"
#include "collectors/virtual_gpu/cupti/callback_api.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/objects.h"
#include "collectors/virtual_gpu/cupti/range_profiler.h"
#include "collectors/virtual_gpu/cupti/records.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/threads.h"

using namespace attnscope::vgpu;
using namespace attnscope::vgpu::cupti;

namespace {

CUptiResult enable(CUpti_ActivityKind kind) {
    const CUptiResult result = check_kind(kind);
    if (result == CUPTI_ERROR_NOT_COMPATIBLE)
        report(
            "warning", "cupti-activity-kind",
            "activity kind " + std::to_string(kind) + " was asked for: the virtual GPU makes no such records",
            "run on a GPU for these records");
    if (result == CUPTI_SUCCESS) switch_kind(kind, true);
    return result;
}

CUptiResult switch_context(CUcontext context, CUpti_ActivityKind kind, bool on) {
    const auto id = context_id(context);
    if (!id) return CUPTI_ERROR_INVALID_CONTEXT;
    if (const CUptiResult result = check_kind(kind); result != CUPTI_SUCCESS) return result;
    switch_kind_of_context(*id, kind, on);
    return CUPTI_SUCCESS;
}

/// Off is what they are.
CUptiResult off_only(const char* function, uint8_t on) {
    if (!on) return CUPTI_SUCCESS;
    report_unsupported("CUPTI", function);
    return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult flush() {
    const Thread& thread = this_thread();
    if (thread.in_buffer_callback || thread.in_object_callback) {
        report("error", "cupti-flush-in-callback",
               "cuptiActivityFlushAll was called inside an activity buffer, resource or synchronise "
               "callback: the real library can hang there",
               "flush from the program's own threads or from driver and runtime API callbacks");
        return CUPTI_ERROR_INVALID_OPERATION;
    }
    if (!have_buffer_callbacks()) return CUPTI_ERROR_INVALID_OPERATION;
    if (is_forked_child()) {
        report("error", "cupti-flush-after-fork",
               "cuptiActivityFlushAll was called in a forked child: the real library waits there for ever",
               "remember the process id and do nothing in a child");
        return CUPTI_ERROR_UNKNOWN;
    }
    flush_all();
    return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
    ATTNSCOPE_FAULT_POINT;
    if (!request || !completed) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    set_buffer_callbacks(request, completed);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    ATTNSCOPE_FAULT_POINT;
    return answer(enable(kind));
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
    ATTNSCOPE_FAULT_POINT;
    if (const CUptiResult result = enable(kind); result != CUPTI_SUCCESS) return answer(result);
    if (!have_buffer_callbacks()) return answer(CUPTI_ERROR_UNKNOWN);
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE) record_devices();
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
        for (const ContextObject& context : contexts()) record_context(context);
    if (kind == CUPTI_ACTIVITY_KIND_STREAM)
        for (const StreamObject& stream : streams()) record_stream(stream, CUPTI_CORRELATION_ID_UNKNOWN);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    ATTNSCOPE_FAULT_POINT;
    const CUptiResult result = check_kind(kind);
    if (result == CUPTI_ERROR_INVALID_KIND) return answer(result);
    switch_kind(kind, false);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind) {
    ATTNSCOPE_FAULT_POINT;
    return answer(switch_context(context, kind, true));
}
CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind) {
    ATTNSCOPE_FAULT_POINT;
    return answer(switch_context(context, kind, false));
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t on) {
    ATTNSCOPE_FAULT_POINT;
    if (cbid == 0 || cbid >= CUPTI_DRIVER_TRACE_CBID_SIZE) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    switch_api(CUPTI_CB_DOMAIN_DRIVER_API, cbid, on != 0);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t on) {
    ATTNSCOPE_FAULT_POINT;
    if (cbid == 0 || cbid >= CUPTI_RUNTIME_TRACE_CBID_SIZE) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    switch_api(CUPTI_CB_DOMAIN_RUNTIME_API, cbid, on != 0);
    return CUPTI_SUCCESS;
}

// Every record is complete when it is made, so that a forced flush has nothing more to give.
CUptiResult cuptiActivityFlushAll(uint32_t) {
    ATTNSCOPE_FAULT_POINT;
    return answer(flush());
}
CUptiResult cuptiActivityFlush(CUcontext, uint32_t, uint32_t) {
    ATTNSCOPE_FAULT_POINT;
    return answer(flush());
}
// Periodic flushes return full buffers only, and those are on their way at once.
CUptiResult cuptiActivityFlushPeriod(uint32_t) {
    ATTNSCOPE_FAULT_POINT;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
    ATTNSCOPE_FAULT_POINT;
    if (!dropped) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    *dropped = take_dropped();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
    ATTNSCOPE_FAULT_POINT;
    if (!function) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    set_clock(function);
    return CUPTI_SUCCESS;
}

// Queued and submitted times cannot be had: they stay CUPTI_TIMESTAMP_UNKNOWN, as the header allows.
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) {
    ATTNSCOPE_FAULT_POINT;
    return CUPTI_SUCCESS;
}
// What these add (access policy windows, device-launched graphs, queries not yet complete) does not occur on
// a virtual GPU.
CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t) {
    ATTNSCOPE_FAULT_POINT;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDeviceGraph(uint8_t) {
    ATTNSCOPE_FAULT_POINT;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) {
    ATTNSCOPE_FAULT_POINT;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableHWTrace(uint8_t on) {
    ATTNSCOPE_FAULT_POINT;
    return answer(off_only("cuptiActivityEnableHWTrace", on));
}
CUptiResult cuptiActivityEnableAllocationSource(uint8_t on) {
    ATTNSCOPE_FAULT_POINT;
    return answer(off_only("cuptiActivityEnableAllocationSource", on));
}
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t on) {
    ATTNSCOPE_FAULT_POINT;
    return answer(off_only("cuptiActivityEnableCudaEventDeviceTimestamps", on));
}

CUptiResult cuptiFinalize(void) {
    ATTNSCOPE_FAULT_POINT;
    drop_subscriber();
    drop_range_profilers();
    switch_everything_off();
    forget_client();
    set_clock(nullptr);
    return CUPTI_SUCCESS;
}
