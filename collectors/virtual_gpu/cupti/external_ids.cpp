#include "collectors/virtual_gpu/cupti/external_ids.h"

#include <cupti.h>

#include "collectors/virtual_gpu/cupti/activity_switches.h"
#include "collectors/virtual_gpu/cupti/buffers.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/threads.h"

namespace attnscope::vgpu::cupti {

void record_external_ids(Thread& thread, uint32_t correlation) {
    if (!kind_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) || thread.external_recorded == correlation)
        return;
    thread.external_recorded = correlation;
    for (size_t kind = 0; kind < thread.external.size(); ++kind) {
        if (thread.external[kind].empty()) continue;
        CUpti_ActivityExternalCorrelation record{};
        record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
        record.externalId = thread.external[kind].back();
        record.correlationId = correlation;
        append(record);
    }
}

namespace {
bool valid(CUpti_ExternalCorrelationKind kind) {
    return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}
}  // namespace

}  // namespace attnscope::vgpu::cupti

using namespace attnscope::vgpu::cupti;

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
    ATTNSCOPE_FAULT_POINT;
    if (!valid(kind)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    this_thread().external[kind].push_back(id);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* last_id) {
    ATTNSCOPE_FAULT_POINT;
    if (!valid(kind)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    auto& stack = this_thread().external[kind];
    if (stack.empty()) return answer(CUPTI_ERROR_QUEUE_EMPTY);
    if (last_id) *last_id = stack.back();
    stack.pop_back();
    return CUPTI_SUCCESS;
}
