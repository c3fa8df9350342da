// What a counters collection does in the driver's callbacks.
#include "counters_collection.h"
#include "driver_functions.h"
#include "session.h"

namespace attnscope::collector {
namespace {

bool succeeded(const CUpti_CallbackData& data) {
    return data.functionReturnValue != nullptr &&
           *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
}

template <class Parameters>
const Parameters& parameters(const CUpti_CallbackData& data) {
    return *static_cast<const Parameters*>(data.functionParams);
}

}  // namespace

void CountersCollection::on_enter(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data) {
    if (data.functionParams == nullptr) return;
    if (is_launch(kind)) return enter_launch(cbid, kind, data);
    switch (kind) {
        case CallKind::begin_capture:
            captures_.begin(stream_of(cbid, data.functionParams).handle);
            // A counted launch that is on its way ends with a synchronisation: it must be over first.
            for (const auto& device : book_.devices())
                if (device->gate.enter()) device->gate.leave();
            return;
        case CallKind::graph_destroyed: {
            const CUgraphExec exec = parameters<cuGraphExecDestroy_params>(data).hGraphExec;
            graphs_.on_destroyed(exec);
            return recorder_.forget_graph(exec);
        }
        case CallKind::library_unload:
            return forget_module(nullptr);
        default:
            return;
    }
}

void CountersCollection::on_exit(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data) {
    if (data.functionParams == nullptr) return;
    if (is_launch(kind)) return exit_launch(cbid, kind, data);
    const bool success = succeeded(data);
    switch (kind) {
        case CallKind::memcpy:
        case CallKind::memset:
            if (success) write_memory(cbid, kind, data);
            return;
        case CallKind::begin_capture:
            if (!success) captures_.begin_failed(stream_of(cbid, data.functionParams).handle);
            return;
        case CallKind::end_capture:
            return captures_.end(stream_of(cbid, data.functionParams), success);
        case CallKind::instantiate:
        case CallKind::graph_updated:
        case CallKind::graph_changed:
        case CallKind::kernel_params:
            return on_graph(cbid, kind, data, success);
        case CallKind::block_shape:
            if (success) {
                const auto& p = parameters<cuFuncSetBlockShape_params>(data);
                recorder_.set_block_shape(p.hfunc, {static_cast<uint32_t>(p.x), static_cast<uint32_t>(p.y),
                                                    static_cast<uint32_t>(p.z)});
            }
            return;
        case CallKind::shared_size:
            if (success) {
                const auto& p = parameters<cuFuncSetSharedSize_params>(data);
                recorder_.set_shared_size(p.hfunc, p.bytes);
            }
            return;
        default:
            return;
    }
}

/// All ways to instantiate a graph begin with the place for it and its source, all ways to change one with
/// itself.
void CountersCollection::on_graph(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data,
                                  bool success) {
    const auto context = book_.find(data.context, data.contextUid);
    const int device = context == nullptr ? 0 : context->device->ordinal;
    if (kind == CallKind::instantiate) {
        const auto& p = parameters<cuGraphInstantiateWithFlags_params>(data);
        if (success && p.phGraphExec != nullptr)
            graphs_.on_instantiated(*p.phGraphExec, p.hGraph, data.context, device);
        return;
    }
    const auto& p = parameters<cuGraphExecUpdate_params>(data);
    if (kind == CallKind::graph_updated && success)
        return graphs_.on_instantiated(p.hGraphExec, p.hGraph, data.context, device);
    if (kind == CallKind::kernel_params && success) {
        const auto& set = parameters<cuGraphExecKernelNodeSetParams_v2_params>(data);
        return graphs_.on_kernel_params(set.hGraphExec, set.hNode, set.nodeParams,
                                        cbid == CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
                                        data.context, device);
    }
    graphs_.on_changed(p.hGraphExec);
}

/// The context that work goes to: the stream's. A null stream's is the current one.
CUcontext CountersCollection::context_of(CUcontext current, const CallStream& stream) const {
    if (contexts_alive_.load(std::memory_order_relaxed) <= 1 || stream.is_default()) return current;
    auto* ask = driver_functions().stream_get_context;
    CUcontext context = nullptr;
    const OwnCall own;
    return ask != nullptr && ask(stream.handle, &context) == CUDA_SUCCESS && context != nullptr ? context
                                                                                                : current;
}

uint32_t CountersCollection::correlation_of(const CUpti_CallbackData& data) {
    // CUPTI numbers calls only while activity records of calls are on; a virtual GPU always does, and its
    // library calls have numbers of the same counter.
    if (virtual_ground_ && data.correlationId != 0) return data.correlationId;
    return last_correlation_.fetch_add(1, std::memory_order_relaxed) + 1;
}

LaunchPlace CountersCollection::place_of(const ContextCounters& context, const CallStream& stream,
                                         uint32_t correlation, const ThreadState& thread) const {
    LaunchPlace place;
    place.correlation = correlation;
    place.device = static_cast<uint32_t>(context.device->ordinal);
    place.context = context.id;
    place.thread = thread.thread;
    place.operation = thread.operation();
    const OwnCall own;
    uint32_t id = 0;
    if (callbacks_.get_stream_id(context.handle, stream.handle, stream.per_thread ? 1 : 0, &id) ==
        CUPTI_SUCCESS)
        place.stream = id;
    return place;
}

void CountersCollection::enter_launch(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data) {
    used_.store(true, std::memory_order_release);
    ThreadState& thread = session_.this_thread();
    LaunchInProgress& launch = thread.launch;
    if (launch.holds_gate) launches_.exit(launch, data.context, false);  // a launch that never returned
    launch = {};
    launch.token = ++thread.launches;
    if (data.correlationData != nullptr) *data.correlationData = launch.token;
    launch.correlation = correlation_of(data);
    launch.range = session_.current_range(thread);
    launch.process_range = session_.outer_process_range(thread);
    const CallStream stream = stream_of(cbid, data.functionParams);
    const CUcontext context = context_of(data.context, stream);
    launch.context = book_.find(context, context == data.context ? data.contextUid : 0);
    launch.captured = captures_.captures(stream);
    if (kind == CallKind::graph) {
        launch.graph = graphs_.content_of(parameters<cuGraphLaunch_params>(data).hGraph);
        launch.kernels = launch.graph->kernels.size();
        launch.nodes_joinable = launch.graph->known && launch.graph->order_known;
    }
    if (mode_.ranges()) {
        if (launch.context != nullptr && !launch.captured) ranges_.launched(*launch.context);
        return;
    }
    // The symbol is valid for launches of one kernel; elsewhere it is garbage.
    launches_.enter(launch,
                    {data.context, kind == CallKind::kernel ? data.symbolName : nullptr,
                     kind == CallKind::multi_device, contexts_alive_.load(std::memory_order_relaxed)});
}

void CountersCollection::exit_launch(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data) {
    ThreadState& thread = session_.this_thread();
    LaunchInProgress& launch = thread.launch;
    if (launch.token == 0 || data.correlationData == nullptr || *data.correlationData != launch.token)
        return;  // its enter was not seen
    const bool success = succeeded(data);
    if (!mode_.ranges()) launches_.exit(launch, data.context, success);
    if (success && !launch.captured && launch.context != nullptr)
        write_launch(cbid, kind, data, thread, launch);
    launch = {};
}

void CountersCollection::write_launch(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data,
                                      ThreadState& thread, const LaunchInProgress& launch) {
    const CallStream stream = stream_of(cbid, data.functionParams);
    LaunchPlace place = place_of(*launch.context, stream, launch.correlation, thread);
    place.range = launch.range;
    place.process_range = launch.process_range;
    const CUcontext context = launch.context->handle;
    const int device = launch.context->device->ordinal;
    if (kind == CallKind::multi_device) return write_multi_device(data, place, launch);
    if (kind == CallKind::kernel) {
        KernelCall call;
        read_kernel(cbid, data.functionParams, call);
        recorder_.add_function_shape(call);
        const std::string symbol = data.symbolName == nullptr ? "" : data.symbolName;
        return recorder_.kernel(place, call, *shared_facts_of(context, call.function, device), symbol,
                                launch.uncounted);
    }
    place.graph = recorder_.graph_id(parameters<cuGraphLaunch_params>(data).hGraph);
    if (!launch.graph->known)
        session_.notices().diagnostic(
            "data_loss", "counters-graph-order",
            "graphs were launched whose kernels are not known: these launches are not recorded",
            "build the graph after the program has initialised CUDA, in the same process");
    for (const GraphKernel& node : launch.graph->kernels) {
        if (launch.nodes_joinable) ++place.graph_node;
        KernelCall call;
        call.function = node.function;
        call.grid = node.grid;
        call.block = node.block;
        call.cluster = node.cluster;
        call.dynamic_shared = node.dynamic_shared;
        recorder_.kernel(place, call, *node.facts, "", launch.uncounted);
    }
}

void CountersCollection::write_multi_device(const CUpti_CallbackData& data, LaunchPlace place,
                                            const LaunchInProgress& launch) {
    const auto& p = parameters<cuLaunchCooperativeKernelMultiDevice_params>(data);
    for (unsigned i = 0; p.launchParamsList != nullptr && i < p.numDevices; ++i) {
        const CUDA_LAUNCH_PARAMS& one = p.launchParamsList[i];
        const CallStream stream{one.hStream, false};
        const auto context = book_.find(context_of(data.context, stream), 0);
        if (context == nullptr) continue;
        LaunchPlace there = place_of(*context, stream, place.correlation, session_.this_thread());
        there.range = place.range;
        there.process_range = place.process_range;
        KernelCall call;
        call.function = one.function;
        call.grid = {one.gridDimX, one.gridDimY, one.gridDimZ};
        call.block = {one.blockDimX, one.blockDimY, one.blockDimZ};
        call.dynamic_shared = one.sharedMemBytes;
        call.launch_type = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE;
        recorder_.kernel(there, call,
                         *shared_facts_of(context->handle, call.function, context->device->ordinal), "",
                         launch.uncounted);
    }
}

void CountersCollection::write_memory(uint32_t cbid, CallKind kind, const CUpti_CallbackData& data) {
    used_.store(true, std::memory_order_release);
    const CallStream stream = stream_of(cbid, data.functionParams);
    if (captures_.captures(stream)) return;
    const CUcontext context = context_of(data.context, stream);
    const auto known = book_.find(context, context == data.context ? data.contextUid : 0);
    if (known == nullptr) return;
    const ThreadState& thread = session_.this_thread();
    LaunchPlace place = place_of(*known, stream, correlation_of(data), thread);
    place.range = session_.current_range(thread);
    place.process_range = session_.outer_process_range(thread);
    if (kind == CallKind::memcpy)
        recorder_.copy(place, read_copy(cbid, data.functionParams));
    else
        recorder_.memset(place, read_memset(cbid, data.functionParams));
}

}  // namespace attnscope::collector
