// A CUPTI small enough to be read at once, for what the virtual GPU's does not do: being too old, refusing,
// giving no record to us. FAKE_CUPTI names the behaviour: "good" (default), "old", "refuses", "taken",
// "drops", "slow" (1.2 seconds a buffer when flushed), "throws-away".
#include <cupti.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace {

std::string behaviour() {
    const char* text = std::getenv("FAKE_CUPTI");
    return text != nullptr ? text : "good";
}

CUpti_BuffersCallbackRequestFunc g_request;
CUpti_BuffersCallbackCompleteFunc g_complete;
std::mutex g_mutex;
std::atomic<uint32_t> g_correlation{1};
std::atomic<size_t> g_dropped{0};  ///< records for which there was no buffer
thread_local std::vector<uint64_t> g_external;

/// One buffer for each thread, as CUPTI 13; all are handed over by whoever flushes.
struct Buffer {
    uint8_t* data = nullptr;
    size_t size = 0, used = 0;
};
std::vector<Buffer*> g_buffers;
thread_local Buffer* t_buffer;

template <class Record>
void append(const Record& record) {
    if (behaviour() == "taken" || g_request == nullptr) return;
    if (t_buffer == nullptr) {
        t_buffer = new Buffer();
        const std::lock_guard lock(g_mutex);
        g_buffers.push_back(t_buffer);
    }
    const std::lock_guard lock(g_mutex);
    Buffer& b = *t_buffer;
    if (b.data != nullptr && b.used + sizeof record > b.size) {
        g_complete(nullptr, 0, b.data, b.size, b.used);
        b = {};
    }
    size_t records = 0;
    if (b.data == nullptr) g_request(&b.data, &b.size, &records);
    if (b.data == nullptr) {
        ++g_dropped;
        return;
    }
    std::memcpy(b.data + b.used, &record, sizeof record);
    b.used += sizeof record;
}

size_t size_of(const CUpti_Activity* r) {
    switch (r->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return sizeof(CUpti_ActivityKernel10);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return sizeof(CUpti_ActivityExternalCorrelation);
        default:
            return sizeof(CUpti_ActivityAPI);
    }
}

uint32_t thread_id() {
    return static_cast<uint32_t>(gettid());
}

void append_api(uint32_t correlation, CUpti_ActivityKind kind, uint32_t cbid) {
    CUpti_ActivityAPI api{};
    api.kind = kind;
    api.cbid = cbid;
    cuptiGetTimestamp(&api.start);
    api.end = api.start + 1;
    api.threadId = thread_id();
    api.correlationId = correlation;
    append(api);
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
    *version = behaviour() == "old" ? 22 : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* time) {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    *time = static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
    *text = "CUPTI_ERROR_NOT_INITIALIZED";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
    g_request = request;
    g_complete = complete;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
    return behaviour() == "refuses" ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t) {
    const std::lock_guard lock(g_mutex);
    for (Buffer* b : g_buffers) {
        if (b->data == nullptr) continue;
        if (behaviour() == "slow") usleep(1'200'000);
        g_complete(nullptr, 0, b->data, b->size, b->used);
        *b = {};
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
    uint8_t* at = *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + size_of(*record);
    if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(at);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
    static std::atomic<bool> told{false};
    *dropped = g_dropped.exchange(0) + (behaviour() == "drops" && !told.exchange(true) ? 17 : 0);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t id) {
    g_external.push_back(id);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, uint64_t* id) {
    if (g_external.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
    *id = g_external.back();
    g_external.pop_back();
    return CUPTI_SUCCESS;
}

/// A launch, as the driver would record it.
void fake_launch(const char* name) {
    const uint32_t correlation = g_correlation++;
    if (!g_external.empty()) {
        CUpti_ActivityExternalCorrelation external{};
        external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        external.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;
        external.externalId = g_external.back();
        external.correlationId = correlation;
        append(external);
    }
    append_api(correlation, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.correlationId = correlation;
    kernel.name = name;
    kernel.registersPerThread = 32;
    kernel.gridX = kernel.gridY = kernel.gridZ = 1;
    kernel.blockX = kernel.blockY = kernel.blockZ = 1;
    kernel.start = 10;
    kernel.end = 20;
    append(kernel);
}

void fake_driver_call(void) {
    append_api(g_correlation++, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion);
}

}  // extern "C"
