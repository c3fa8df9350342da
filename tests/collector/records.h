#pragma once
// CUPTI activity records made by hand, as CUPTI 13.0 lays them out (cupti_activity.h).
#include <cupti.h>

#include <cstring>

namespace attnscope::test {

inline CUpti_ActivityKernel10 kernel_record(uint32_t correlation, const char* name) {
    CUpti_ActivityKernel10 r;
    std::memset(&r, 0, sizeof r);
    r.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    r.correlationId = correlation;
    r.name = name;
    r.registersPerThread = 255;
    r.deviceId = 1;
    r.contextId = 2;
    r.streamId = 7;
    r.gridX = 16, r.gridY = 4, r.gridZ = 2;
    r.blockX = 128, r.blockY = 1, r.blockZ = 1;
    r.staticSharedMemory = 16;
    r.dynamicSharedMemory = 49152;
    r.localMemoryPerThread = 8;
    r.start = 1000;
    r.end = 3000;
    return r;
}

inline CUpti_ActivityAPI api_record(uint32_t correlation, uint32_t thread, uint64_t start,
                                    CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_RUNTIME,
                                    uint32_t cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000) {
    CUpti_ActivityAPI r;
    std::memset(&r, 0, sizeof r);
    r.kind = kind;
    r.cbid = cbid;
    r.start = start;
    r.end = start + 5;
    r.threadId = thread;
    r.correlationId = correlation;
    return r;
}

inline CUpti_ActivityExternalCorrelation external_record(
    uint32_t correlation, uint64_t id,
    CUpti_ExternalCorrelationKind kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2) {
    CUpti_ActivityExternalCorrelation r;
    std::memset(&r, 0, sizeof r);
    r.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    r.externalKind = kind;
    r.externalId = id;
    r.correlationId = correlation;
    return r;
}

template <class Record>
const CUpti_Activity* activity(const Record& record) {
    return reinterpret_cast<const CUpti_Activity*>(&record);
}

}  // namespace attnscope::test
