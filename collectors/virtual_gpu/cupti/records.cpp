#include "collectors/virtual_gpu/cupti/records.h"

#include <cupti.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "collectors/virtual_gpu/cupti/activity_switches.h"
#include "collectors/virtual_gpu/cupti/buffers.h"
#include "collectors/virtual_gpu/cupti/threads.h"

namespace attnscope::vgpu::cupti {
namespace {

/// Above it a block's shared memory needs the function's opt-in on every architecture.
constexpr uint32_t default_shared_limit = 48 * 1024;

bool ticks_wanted() {
    static const bool wanted = [] {
        const char* value = std::getenv("ATTNSCOPE_VGPU_TICKS");
        return value && std::strcmp(value, "1") == 0;
    }();
    return wanted;
}

/// An order, not a time: the host's, pushed ahead where two events share a nanosecond. One counter for all
/// kinds of records.
uint64_t next_tick() {
    static std::atomic<uint64_t> last{0};
    const uint64_t now = now_ns();
    uint64_t before = last.load(std::memory_order_relaxed);
    uint64_t tick;
    do tick = std::max(now, before + 1);
    while (!last.compare_exchange_weak(before, tick, std::memory_order_relaxed));
    return tick;
}

template <class Record>
void stamp(Record& record) {
    if (!ticks_wanted()) return;
    record.start = next_tick();
    record.end = record.start + 1;
}

template <class Record, class Event>
void place(Record& record, const Event& event) {
    record.deviceId = static_cast<uint32_t>(event.device);
    record.contextId = event.context_id;
    record.streamId = event.stream_id;
    record.correlationId = event.correlation;
    record.graphNodeId = event.graph_node_id;
    record.graphId = event.graph_id;
    record.channelID = CUPTI_INVALID_CHANNEL_ID;
    record.channelType = CUPTI_CHANNEL_TYPE_INVALID;
}

void record_peer_copy(const CopyEvent& event) {
    CUpti_ActivityMemcpyPtoP4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    record.copyKind = event.copy_kind;
    record.srcKind = event.source_kind;
    record.dstKind = event.destination_kind;
    record.flags = event.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
    record.bytes = event.bytes;
    place(record, event);
    record.srcDeviceId = static_cast<uint32_t>(event.source_device);
    record.dstDeviceId = static_cast<uint32_t>(event.destination_device);
    // The core does not say which contexts own the two ends.
    record.srcContextId = CUPTI_INVALID_CONTEXT_ID;
    record.dstContextId = CUPTI_INVALID_CONTEXT_ID;
    stamp(record);
    append(record);
}

}  // namespace

void record_kernel(const KernelEvent& event) {
    const bool concurrent = kind_wanted(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, event.context_id);
    if (!concurrent && !kind_wanted(CUPTI_ACTIVITY_KIND_KERNEL, event.context_id)) return;
    Thread& thread = this_thread();
    CUpti_ActivityKernel10 record{};
    record.kind = concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL;
    record.registersPerThread = static_cast<uint16_t>(event.registers);
    place(record, event);
    record.gridX = static_cast<int32_t>(event.grid.x);
    record.gridY = static_cast<int32_t>(event.grid.y);
    record.gridZ = static_cast<int32_t>(event.grid.z);
    record.blockX = static_cast<int32_t>(event.block.x);
    record.blockY = static_cast<int32_t>(event.block.y);
    record.blockZ = static_cast<int32_t>(event.block.z);
    record.clusterX = event.cluster.x;
    record.clusterY = event.cluster.y;
    record.clusterZ = event.cluster.z;
    record.staticSharedMemory = static_cast<int32_t>(event.static_shared);
    record.dynamicSharedMemory = static_cast<int32_t>(event.dynamic_shared);
    record.localMemoryPerThread = event.local_per_thread;
    // Unique in the process without a counter that all threads share.
    record.gridId = static_cast<int64_t>(uint64_t{thread.number} << 32 | (++thread.grids & 0xffffffffu));
    record.name = event.name;
    record.launchType = event.launch_type;
    record.sharedMemoryExecuted = event.shared_carveout_bytes;
    record.shmemLimitConfig = event.static_shared + event.dynamic_shared > default_shared_limit
                                  ? CUPTI_FUNC_SHMEM_LIMIT_OPTIN
                                  : CUPTI_FUNC_SHMEM_LIMIT_DEFAULT;
    stamp(record);
    record.completed = record.end;  // 0 is CUPTI_TIMESTAMP_UNKNOWN; so are queued and submitted
    append(record);
}

void record_copy(const CopyEvent& event) {
    if (event.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
        if (kind_wanted(CUPTI_ACTIVITY_KIND_MEMCPY2, event.context_id)) record_peer_copy(event);
        return;
    }
    if (!kind_wanted(CUPTI_ACTIVITY_KIND_MEMCPY, event.context_id)) return;
    CUpti_ActivityMemcpy6 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = event.copy_kind;
    record.srcKind = event.source_kind;
    record.dstKind = event.destination_kind;
    record.flags = event.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
    record.bytes = event.bytes;
    place(record, event);
    record.runtimeCorrelationId = event.correlation;
    record.copyCount = 1;
    stamp(record);
    append(record);
}

void record_memset(const MemsetEvent& event) {
    if (!kind_wanted(CUPTI_ACTIVITY_KIND_MEMSET, event.context_id)) return;
    CUpti_ActivityMemset4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.value = event.value;
    record.bytes = event.bytes;
    record.flags = event.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
    record.memoryKind = event.memory_kind;
    place(record, event);
    stamp(record);
    append(record);
}

void record_synchronisation(const SyncEvent& event) {
    if (!kind_wanted(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, event.context_id)) return;
    CUpti_ActivitySynchronization2 record{};
    record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    record.type = static_cast<CUpti_ActivitySynchronizationType>(event.type);
    record.end = now_ns();
    const uint64_t call = this_thread().call_start_ns;
    record.start = call ? call : record.end;
    record.correlationId = event.correlation;
    record.contextId = event.context_id;
    record.streamId = event.stream_id;
    record.cudaEventId = event.event_id;
    append(record);
}

void record_api_call(const ApiCall& call, const Thread& thread) {
    CUpti_ActivityAPI record{};
    record.kind = call.domain == ApiDomain::driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
    record.cbid = call.cbid;
    record.start = call.start_ns;
    record.end = now_ns();
    record.processId = process_id();
    record.threadId = id_of(thread);
    record.correlationId = call.correlation;
    record.returnValue = static_cast<uint32_t>(call.result);
    append(record);
}

void record_context(const ContextObject& context) {
    if (!kind_wanted(CUPTI_ACTIVITY_KIND_CONTEXT, context.id)) return;
    CUpti_ActivityContext3 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
    record.contextId = context.id;
    record.deviceId = device_of(context.handle).value_or(0);
    record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
    record.nullStreamId = static_cast<uint16_t>(stream_id(context.handle, nullptr, false).value_or(0));
    record.parentContextId = CUPTI_INVALID_CONTEXT_ID;
    append(record);
}

void record_stream(const StreamObject& stream, uint32_t correlation) {
    if (!kind_wanted(CUPTI_ACTIVITY_KIND_STREAM, stream.context_id)) return;
    const Silence silence;
    CUpti_ActivityStream record{};
    record.kind = CUPTI_ACTIVITY_KIND_STREAM;
    record.contextId = stream.context_id;
    record.streamId = stream.id;
    record.correlationId = correlation;
    record.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN;
    unsigned int flags = 0;
    int priority = 0;
    if (auto* get = driver<decltype(cuStreamGetFlags)>("cuStreamGetFlags");
        get && get(stream.handle, &flags) == CUDA_SUCCESS)
        record.flag = flags & CU_STREAM_NON_BLOCKING ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                                                     : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
    if (auto* get = driver<decltype(cuStreamGetPriority)>("cuStreamGetPriority");
        get && get(stream.handle, &priority) == CUDA_SUCCESS)
        record.priority = static_cast<uint32_t>(priority);
    append(record);
}

void record_module(uint32_t context_id, uint32_t module_id) {
    if (!kind_wanted(CUPTI_ACTIVITY_KIND_MODULE, context_id)) return;
    CUpti_ActivityModule record{};
    record.kind = CUPTI_ACTIVITY_KIND_MODULE;
    record.contextId = context_id;
    record.id = module_id;
    append(record);  // the cubin itself is not handed out: size 0
}

}  // namespace attnscope::vgpu::cupti
