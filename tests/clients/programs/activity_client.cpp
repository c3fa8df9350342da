// A CUPTI client as CUPTI's documentation describes one, inside the program that it watches: asynchronous
// activity buffers and synchronous callbacks. Arguments: "plain" (no CUPTI at all), "activity" or
// "callbacks". What it saw goes to stdout, one JSON object a line.
#include <cupti.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "count_me.h"

namespace {

using attnscope::test::check;
using attnscope::test::launch_count_me;

void check(CUptiResult result, const char* what) {
    if (result == CUPTI_SUCCESS) return;
    const char* text = "";
    cuptiGetResultString(result, &text);
    std::fprintf(stderr, "%s: %s\n", what, text);
    std::exit(91);
}

constexpr size_t kBufferBytes = 16 * 1024;  // small: several are asked for
std::mutex buffers_mutex;
std::vector<std::pair<uint8_t*, size_t>> buffers;

void requested(uint8_t** buffer, size_t* size, size_t* max_records) {
    *size = kBufferBytes;
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
    *max_records = 0;
}

void completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    const std::lock_guard lock(buffers_mutex);
    buffers.emplace_back(buffer, valid);
}

void print(const CUpti_Activity& activity) {
    switch (activity.kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            const auto& r = reinterpret_cast<const CUpti_ActivityKernel10&>(activity);
            std::printf(
                R"({"kind":"kernel","correlation":%u,"name":"%s","grid":[%d,%d,%d],"block":[%d,%d,%d],)"
                R"("registers":%u,"static_shared":%d,"dynamic_shared":%d,"local_per_thread":%u,)"
                R"("stream":%u,"graph":%u})"
                "\n",
                r.correlationId, r.name, r.gridX, r.gridY, r.gridZ, r.blockX, r.blockY, r.blockZ,
                r.registersPerThread, r.staticSharedMemory, r.dynamicSharedMemory, r.localMemoryPerThread,
                r.streamId, r.graphId);
            return;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const auto& r = reinterpret_cast<const CUpti_ActivityMemcpy6&>(activity);
            std::printf(R"({"kind":"memcpy","correlation":%u,"bytes":%llu,"copy_kind":%u})"
                        "\n",
                        r.correlationId, static_cast<unsigned long long>(r.bytes), r.copyKind);
            return;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            const auto& r = reinterpret_cast<const CUpti_ActivityMemset4&>(activity);
            std::printf(R"({"kind":"memset","correlation":%u,"bytes":%llu,"value":%u})"
                        "\n",
                        r.correlationId, static_cast<unsigned long long>(r.bytes), r.value);
            return;
        }
        case CUPTI_ACTIVITY_KIND_RUNTIME: {
            const auto& r = reinterpret_cast<const CUpti_ActivityAPI&>(activity);
            const char* name = "";
            check(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, r.cbid, &name), "cuptiGetCallbackName");
            std::printf(R"({"kind":"call","correlation":%u,"name":"%s","result":%u})"
                        "\n",
                        r.correlationId, name, r.returnValue);
            return;
        }
        default:
            std::printf(R"({"kind":"other","number":%d})"
                        "\n",
                        activity.kind);
    }
}

void print_buffers() {
    for (const auto& [buffer, valid] : buffers) {
        CUpti_Activity* record = nullptr;
        CUptiResult result;
        while ((result = cuptiActivityGetNextRecord(buffer, valid, &record)) == CUPTI_SUCCESS) print(*record);
        if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) check(result, "cuptiActivityGetNextRecord");
        std::free(buffer);
    }
}

/// A user's data is handed through, and correlationData carries a word from a call's start to its end.
struct Watch {
    unsigned calls = 0, contexts = 0, streams = 0, synchronisations = 0;
    std::string launches;
};

void seen(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
    auto& watch = *static_cast<Watch*>(user);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        watch.contexts += cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED ? 1 : 0;
        watch.streams += cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED ? 1 : 0;
        return;
    }
    if (domain == CUPTI_CB_DOMAIN_SYNCHRONIZE) {
        ++watch.synchronisations;
        return;
    }
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite == CUPTI_API_ENTER) {
        *call.correlationData = ++watch.calls;
        return;
    }
    if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || cbid != CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)
        return;
    const auto& p = *static_cast<const cudaLaunchKernel_v7000_params*>(call.functionParams);
    char line[512];
    std::snprintf(line, sizeof line,
                  R"({"kind":"kernel","correlation":%u,"name":"%s","grid":[%u,%u,%u],"block":[%u,%u,%u],)"
                  R"("dynamic_shared":%zu,"handed_through":%s})"
                  "\n",
                  call.correlationId, call.symbolName, p.gridDim.x, p.gridDim.y, p.gridDim.z, p.blockDim.x,
                  p.blockDim.y, p.blockDim.z, p.sharedMem,
                  *call.correlationData != 0 && *call.correlationData <= watch.calls ? "true" : "false");
    watch.launches += line;
}

/// Two streams, all kinds of launches, and a graph that is launched twice.
void work() {
    std::vector<int> host(1 << 16, 7);
    int* device = nullptr;
    const size_t bytes = host.size() * sizeof(int);
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) check(cudaStreamCreate(&stream), "cudaStreamCreate");
    check(cudaMalloc(reinterpret_cast<void**>(&device), bytes), "cudaMalloc");
    check(cudaMemcpyAsync(device, host.data(), bytes, cudaMemcpyHostToDevice, streams[0]), "cudaMemcpyAsync");
    check(cudaMemsetAsync(device, 0x5a, 4096, streams[1]), "cudaMemsetAsync");
    for (unsigned i = 1; i <= 200; ++i)
        launch_count_me({i, 2, 3}, {32 * (1 + i % 4), 1, 1}, 128 * (i % 5), streams[i % 2], device);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    for (unsigned i = 1; i <= 3; ++i) launch_count_me({i, 1, 1}, {64, 1, 1}, 0, streams[0], device);
    check(cudaStreamEndCapture(streams[0], &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    for (int i = 0; i < 2; ++i) check(cudaGraphLaunch(executable, streams[0]), "cudaGraphLaunch");
    check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void trace() {
    constexpr CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_DEVICE,  CUPTI_ACTIVITY_KIND_CONTEXT,
        CUPTI_ACTIVITY_KIND_STREAM,  CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMSET,  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        CUPTI_ACTIVITY_KIND_OVERHEAD};
    check(cuptiActivityRegisterCallbacks(requested, completed), "cuptiActivityRegisterCallbacks");
    for (const CUpti_ActivityKind kind : kinds) check(cuptiActivityEnable(kind), "cuptiActivityEnable");
    work();
    check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
    for (const CUpti_ActivityKind kind : kinds) check(cuptiActivityDisable(kind), "cuptiActivityDisable");
    print_buffers();
    size_t dropped = 0;
    check(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), "cuptiActivityGetNumDroppedRecords");
    std::printf(R"({"kind":"end","buffers":%zu,"dropped":%zu})"
                "\n",
                buffers.size(), dropped);
}

void call_back() {
    Watch watch;
    CUpti_SubscriberHandle subscriber = nullptr, second = nullptr;
    char name[] = "activity_client", holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = name;
    check(cuptiSubscribe_v2(&subscriber, seen, &watch, &params), "cuptiSubscribe_v2");
    for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API,
                                              CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE})
        check(cuptiEnableDomain(1, subscriber, domain), "cuptiEnableDomain");
    // There is one subscriber in a process; the next one learns its name.
    params.oldSubscriberName = holder;
    params.oldSubscriberSize = sizeof holder;
    // Callback 0 is invalid by the header, and taken by the real library.
    const CUptiResult zero = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, 0);
    const CUptiResult refused = cuptiSubscribe_v2(&second, seen, &watch, &params);
    work();
    check(cuptiUnsubscribe(subscriber), "cuptiUnsubscribe");
    const unsigned calls = watch.calls;
    work();
    std::fputs(watch.launches.c_str(), stdout);
    std::printf(R"({"kind":"end","calls":%u,"after":%u,"contexts":%u,"streams":%u,"synchronisations":%u,)"
                R"("second":%d,"zero":%d,"holder":"%s"})"
                "\n",
                calls, watch.calls - calls, watch.contexts, watch.streams, watch.synchronisations, refused,
                zero, holder);
}

}  // namespace

int main(int argc, char** argv) {
    attnscope::test::register_count_me();
    const std::string mode = argc > 1 ? argv[1] : "plain";
    if (mode == "plain") work();
    if (mode == "activity") trace();
    if (mode == "callbacks") call_back();
}
