#include "joiner.h"

#include <sys/mman.h>

#include "cupti_api.h"
#include "json_line.h"
#include "launch_fields.h"

namespace attnscope::collector {
namespace {

// CUPTI fills the record of its own version. Fields used here lie at the same place from 12.6 to 13.x
// (Kernel9, Kernel10 and later; Memcpy5, Memcpy6; tests/collector holds it), so the 13.0 structures are read
// as prefixes.
using KernelRecord = CUpti_ActivityKernel9;
using MemcpyRecord = CUpti_ActivityMemcpy5;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using MemsetRecord = CUpti_ActivityMemset4;

/// A call that is to launch kernels. When it fails no other record tells of it; and a runtime call has the
/// driver's call inside.
bool is_launch(CUpti_ActivityKind kind, CUpti_CallbackId cbid) {
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER) switch (cbid) {
            case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
            case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
            case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
            case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
            case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
            case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
            case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
            case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
                return true;
            default:
                return false;
        }
    switch (cbid) {
        case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000:
        case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000:
        case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060:
        case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060:
        case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000:
        case CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000:
        case CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000:
        case CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000:
            return true;
        default:
            return false;
    }
}

const char* copy_kind_name(uint8_t kind) {
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
            return "HtoD";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
            return "DtoH";
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
            return "HtoA";
        case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
            return "AtoH";
        case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
            return "AtoA";
        case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
            return "AtoD";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
            return "DtoA";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
            return "DtoD";
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
            return "HtoH";
        case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
            return "PtoP";
        default:
            return nullptr;
    }
}

}  // namespace

Joiner::Joiner(const RangeBook& ranges, Options options, const OperationBook* operations)
    : ranges_(ranges), operations_(operations), options_(options) {
    probe_thread_ = options.probe_thread;
    void* memory = mmap(nullptr, sizeof(Slot) * kSlots, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) slots_ = static_cast<Slot*>(memory);
}

Joiner::~Joiner() {
    if (slots_ != nullptr) munmap(slots_, sizeof(Slot) * kSlots);
}

Joiner::Slot* Joiner::slot(uint32_t correlation, bool create) {
    if (slots_ == nullptr || correlation == 0) return nullptr;
    Slot& s = slots_[correlation % kSlots];
    if (s.correlation == correlation) return &s;
    if (const auto late = late_.find(correlation); late != late_.end()) return &late->second;
    // Ids wrap at 32 bits: the difference, not the order, tells which is older. A late record never displaces
    // a newer one.
    if (!create) return nullptr;
    if (s.correlation != 0 && static_cast<int32_t>(s.correlation - correlation) > 0) {
        Slot fresh{};
        fresh.correlation = correlation;
        return late_slot(fresh);
    }
    if (s.correlation != 0 && !s.used) late_slot(s);
    s = Slot{};
    s.correlation = correlation;
    return &s;
}

Joiner::Slot* Joiner::late_slot(const Slot& wanted) {
    if (late_.size() >= kLate)
        late_.clear();  // bounded: then some launches are without a thread, which is counted
    return &late_.insert_or_assign(wanted.correlation, wanted).first->second;
}

void Joiner::record(const CUpti_Activity* record) {
    switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return take_kernel(record);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return take_copy<MemcpyRecord>(record);
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return take_copy<PeerCopyRecord>(record);
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return take_memset(record);
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER:
            return take_api(record);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return take_external(record);
        default:
            return;  // the program's own client may have enabled more
    }
}

void Joiner::take_kernel(const CUpti_Activity* record) {
    const auto& r = *reinterpret_cast<const KernelRecord*>(record);
    Launch l{};
    l.kind = Kind::kernel;
    l.launch_type = r.launchType;
    l.registers = r.registersPerThread;
    l.correlation = r.correlationId;
    l.device = r.deviceId;
    l.context = r.contextId;
    l.stream = r.streamId;
    l.name = r.name == nullptr ? 0 : table_.id(r.name, names_);
    l.grid = {r.gridX, r.gridY, r.gridZ};
    l.block = {r.blockX, r.blockY, r.blockZ};
    l.cluster = {r.clusterX, r.clusterY, r.clusterZ};
    l.static_shared = static_cast<uint32_t>(r.staticSharedMemory);
    l.dynamic_shared = static_cast<uint32_t>(r.dynamicSharedMemory);
    l.local_per_thread = r.localMemoryPerThread;
    l.start = r.start;
    l.end = r.end;
    l.graph = r.graphId;
    l.graph_node = r.graphNodeId;
    ++counts_.kernels;
    add(l);
}

template <class Record>
void Joiner::take_copy(const CUpti_Activity* record) {
    const auto& r = *reinterpret_cast<const Record*>(record);
    Launch l{};
    l.kind = Kind::memcpy;
    l.copy_kind = r.copyKind;
    l.asynchronous = (r.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
    l.correlation = r.correlationId;
    l.device = r.deviceId;
    l.context = r.contextId;
    l.stream = r.streamId;
    l.bytes = r.bytes;
    l.start = r.start;
    l.end = r.end;
    l.graph = r.graphId;
    l.graph_node = r.graphNodeId;
    ++counts_.memcpys;
    add(l);
}

void Joiner::take_memset(const CUpti_Activity* record) {
    const auto& r = *reinterpret_cast<const MemsetRecord*>(record);
    Launch l{};
    l.kind = Kind::memset;
    l.correlation = r.correlationId;
    l.device = r.deviceId;
    l.context = r.contextId;
    l.stream = r.streamId;
    l.value = r.value;
    l.bytes = r.bytes;
    l.start = r.start;
    l.end = r.end;
    l.graph = r.graphId;
    l.graph_node = r.graphNodeId;
    ++counts_.memsets;
    add(l);
}

/// A runtime call and the driver call inside it may share an id: the outer one's start is the earlier.
void Joiner::take_api(const CUpti_Activity* record) {
    const auto& r = *reinterpret_cast<const CUpti_ActivityAPI*>(record);
    if (r.kind == CUPTI_ACTIVITY_KIND_DRIVER && r.cbid == CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion) {
        if (r.threadId == probe_thread_.load(std::memory_order_relaxed)) ++probes_seen_;
        return;
    }
    Slot* s = slot(r.correlationId, true);
    if (s == nullptr) return;
    if (!s->has_api || r.start < s->start_ns) s->start_ns = r.start;
    s->thread = r.threadId;
    s->has_api = true;
    if (r.returnValue == 0 || s->failed || !is_launch(r.kind, r.cbid)) return;
    s->failed = true;
    if (counts_.failed_launches++ == 0) counts_.first_failure = r.returnValue;
}

void Joiner::take_external(const CUpti_Activity* record) {
    const auto& r = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
    if (r.externalKind != kRangeKind) return;
    ranges_seen_ = true;
    Slot* s = slot(r.correlationId, true);
    if (s == nullptr) return;
    s->external = r.externalId;
    s->has_external = true;
}

void Joiner::add(const Launch& launch) {
    Launch& l = waiting_.emplace_back(launch);
    if (l.end != 0 && l.end < l.start) {
        ++counts_.invalid_times;
        l.start = l.end = 0;
    }
}

void Joiner::settle(std::string& out, bool last) {
    out.append(names_);
    names_.clear();
    const size_t excess = waiting_.size() > options_.waiting ? waiting_.size() - options_.waiting : 0;
    size_t kept = 0;
    for (size_t i = 0; i < waiting_.size(); ++i) {
        Launch& l = waiting_[i];
        Slot* known = slot(l.correlation, false);
        if (known != nullptr && !known->has_api) known = nullptr;
        // The external record precedes the API record, but a buffer's end may lie between them: one round of
        // patience.
        const bool complete = known != nullptr && (known->has_external || !ranges_seen_ || l.settled_once);
        if (complete || last || i < excess) {
            if (known != nullptr) known->used = true;
            write(out, l, known);
        } else {
            l.settled_once = known != nullptr;
            waiting_[kept++] = l;
        }
    }
    waiting_.resize(kept);
}

void Joiner::write(std::string& out, const Launch& l, const Slot* known) {
    if (known == nullptr) ++counts_.without_api_record;
    constexpr const char* types[] = {"kernel", "memcpy", "memset"};
    JsonLine line(out, types[static_cast<size_t>(l.kind)]);
    line.number("correlation", l.correlation);
    if (l.kind == Kind::kernel) {
        if (l.name != 0) line.number("name", l.name);
    } else {
        if (l.kind == Kind::memset) line.number("value", l.value);
        if (const char* kind = copy_kind_name(l.copy_kind)) line.text("copy_kind", kind);
        line.number("bytes", l.bytes);
        if (l.kind == Kind::memcpy) line.boolean("asynchronous", l.asynchronous);
    }
    line.number("device", l.device).number("context", l.context).number("stream", l.stream);
    if (known != nullptr) {
        line.number("thread", known->thread);
        const uint32_t process_range = known->start_ns == 0 ? 0 : ranges_.innermost_at(known->start_ns);
        const LaunchContext in =
            operations_ != nullptr ? operations_->context_of(known->external) : ranges_of(known->external);
        if (in.range != 0) {
            line.number("range", in.range);
            if (process_range != 0 && process_range != in.process_range)
                line.number("process_range", process_range);
        } else if (process_range != 0) {
            line.number("range", process_range);
        }
        add_operation(line, in.operation);
    }
    if (l.kind == Kind::kernel) {
        add_geometry(line, l.grid, l.block, l.cluster);
        if (l.registers != 0) {
            line.number("registers", l.registers).number("static_shared", l.static_shared);
            line.number("dynamic_shared", l.dynamic_shared).number("local_per_thread", l.local_per_thread);
        } else {
            line.number("dynamic_shared",
                        l.dynamic_shared);  // no kernel has no registers: its resources are not known
        }
        line.number("launch_type", l.launch_type);
    }
    if (options_.times && l.start != 0) line.number("start_ns", l.start);
    if (options_.times && l.end != 0) line.number("end_ns", l.end);
    if (l.graph != 0) line.number("graph", l.graph).number("graph_node", l.graph_node);
    line.end();
}

void read_buffer(Joiner& joiner, NextRecord next, uint8_t* buffer, size_t valid) {
    CUpti_Activity* record = nullptr;
    while (valid != 0 && next(buffer, valid, &record) == CUPTI_SUCCESS && record != nullptr)
        joiner.record(record);
}

}  // namespace attnscope::collector
