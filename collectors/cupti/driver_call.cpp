#include "driver_call.h"

#include <cupti.h>

#include "memory_call.h"

namespace attnscope::collector {
namespace {

struct Watched {
    uint32_t cbid;
    CallKind kind;
};

#define CBID(name) CUPTI_DRIVER_TRACE_CBID_##name
constexpr Watched kWatched[] = {
    {CBID(cuLaunch), CallKind::kernel},
    {CBID(cuLaunchGrid), CallKind::kernel},
    {CBID(cuLaunchGridAsync), CallKind::kernel},
    {CBID(cuLaunchKernel), CallKind::kernel},
    {CBID(cuLaunchKernel_ptsz), CallKind::kernel},
    {CBID(cuLaunchKernelEx), CallKind::kernel},
    {CBID(cuLaunchKernelEx_ptsz), CallKind::kernel},
    {CBID(cuLaunchCooperativeKernel), CallKind::kernel},
    {CBID(cuLaunchCooperativeKernel_ptsz), CallKind::kernel},
    {CBID(cuLaunchCooperativeKernelMultiDevice), CallKind::multi_device},
    {CBID(cuGraphLaunch), CallKind::graph},
    {CBID(cuGraphLaunch_ptsz), CallKind::graph},
    {CBID(cuStreamBeginCapture), CallKind::begin_capture},
    {CBID(cuStreamBeginCapture_ptsz), CallKind::begin_capture},
    {CBID(cuStreamBeginCapture_v2), CallKind::begin_capture},
    {CBID(cuStreamBeginCapture_v2_ptsz), CallKind::begin_capture},
    {CBID(cuStreamBeginCaptureToGraph), CallKind::begin_capture},
    {CBID(cuStreamBeginCaptureToGraph_ptsz), CallKind::begin_capture},
    {CBID(cuStreamEndCapture), CallKind::end_capture},
    {CBID(cuStreamEndCapture_ptsz), CallKind::end_capture},
    {CBID(cuGraphInstantiate), CallKind::instantiate},
    {CBID(cuGraphInstantiate_v2), CallKind::instantiate},
    {CBID(cuGraphInstantiateWithFlags), CallKind::instantiate},
    {CBID(cuGraphInstantiateWithParams), CallKind::instantiate},
    {CBID(cuGraphInstantiateWithParams_ptsz), CallKind::instantiate},
    {CBID(cuGraphExecUpdate), CallKind::graph_updated},
    {CBID(cuGraphExecUpdate_v2), CallKind::graph_updated},
    {CBID(cuGraphExecKernelNodeSetParams), CallKind::kernel_params},
    {CBID(cuGraphExecKernelNodeSetParams_v2), CallKind::kernel_params},
    {CBID(cuGraphExecChildGraphNodeSetParams), CallKind::graph_changed},
    {CBID(cuGraphExecNodeSetParams), CallKind::graph_changed},
    {CBID(cuGraphNodeSetEnabled), CallKind::graph_changed},
    {CBID(cuGraphExecDestroy), CallKind::graph_destroyed},
    {CBID(cuFuncSetBlockShape), CallKind::block_shape},
    {CBID(cuFuncSetSharedSize), CallKind::shared_size},
    {CBID(cuLibraryUnload), CallKind::library_unload},
};

constexpr uint32_t kNumbers = 1024;
const std::array<CallKind, kNumbers>& kinds() {
    static const std::array<CallKind, kNumbers> table = [] {
        std::array<CallKind, kNumbers> t{};
        for (const Watched& call : kWatched) t[call.cbid] = call.kind;
        for (const MemoryCall& call : memory_calls())
            t[call.cbid] = call.memset ? CallKind::memset : CallKind::memcpy;
        return t;
    }();
    return table;
}

template <class Parameters>
const Parameters& as(const void* parameters) {
    return *static_cast<const Parameters*>(parameters);
}

template <class Parameters>
void read_plain(const Parameters& p, KernelCall& call) {
    call.function = p.f;
    call.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
    call.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
    call.dynamic_shared = p.sharedMemBytes;
}

void read_config(const cuLaunchKernelEx_params& p, KernelCall& call) {
    call.function = p.f;
    if (p.config == nullptr) return;
    const CUlaunchConfig& config = *p.config;
    call.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
    call.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
    call.dynamic_shared = config.sharedMemBytes;
    for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
        const CUlaunchAttribute& attribute = config.attrs[i];
        if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            call.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                            attribute.value.clusterDim.z};
        if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0)
            call.launch_type = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
    }
}

}  // namespace

CallKind kind_of(uint32_t cbid) {
    return cbid < kNumbers ? kinds()[cbid] : CallKind::other;
}

const std::vector<uint32_t>& watched_calls() {
    static const std::vector<uint32_t> calls = [] {
        std::vector<uint32_t> all;
        for (uint32_t cbid = 0; cbid < kNumbers; ++cbid)
            if (kind_of(cbid) != CallKind::other) all.push_back(cbid);
        return all;
    }();
    return calls;
}

CallStream stream_of(uint32_t cbid, const void* parameters) {
    switch (cbid) {
        case CBID(cuLaunchKernel):
        case CBID(cuLaunchKernel_ptsz):
            return {as<cuLaunchKernel_params>(parameters).hStream, cbid == CBID(cuLaunchKernel_ptsz)};
        case CBID(cuLaunchKernelEx):
        case CBID(cuLaunchKernelEx_ptsz): {
            const CUlaunchConfig* config = as<cuLaunchKernelEx_params>(parameters).config;
            return {config == nullptr ? nullptr : config->hStream, cbid == CBID(cuLaunchKernelEx_ptsz)};
        }
        case CBID(cuLaunchCooperativeKernel):
        case CBID(cuLaunchCooperativeKernel_ptsz):
            return {as<cuLaunchCooperativeKernel_params>(parameters).hStream,
                    cbid == CBID(cuLaunchCooperativeKernel_ptsz)};
        case CBID(cuGraphLaunch):
        case CBID(cuGraphLaunch_ptsz):
            return {as<cuGraphLaunch_params>(parameters).hStream, cbid == CBID(cuGraphLaunch_ptsz)};
        case CBID(cuLaunchGridAsync):
            return {as<cuLaunchGridAsync_params>(parameters).hStream, false};
        case CBID(cuStreamBeginCapture_ptsz):
        case CBID(cuStreamBeginCapture_v2_ptsz):
        case CBID(cuStreamBeginCaptureToGraph_ptsz):
        case CBID(cuStreamEndCapture_ptsz):
            return {as<cuStreamEndCapture_params>(parameters).hStream, true};
        case CBID(cuStreamBeginCapture):
        case CBID(cuStreamBeginCapture_v2):
        case CBID(cuStreamBeginCaptureToGraph):
        case CBID(cuStreamEndCapture):  // the stream comes first in all of them
            return {as<cuStreamEndCapture_params>(parameters).hStream, false};
        default: {
            const MemoryCall* call = memory_call(cbid);
            if (call == nullptr) return {};
            return {call->stream == nullptr ? nullptr : call->stream(parameters), call->per_thread};
        }
    }
}

void read_kernel(uint32_t cbid, const void* parameters, KernelCall& call) {
    switch (cbid) {
        case CBID(cuLaunchKernel):
        case CBID(cuLaunchKernel_ptsz):
            return read_plain(as<cuLaunchKernel_params>(parameters), call);
        case CBID(cuLaunchCooperativeKernel):
        case CBID(cuLaunchCooperativeKernel_ptsz):
            call.launch_type = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
            return read_plain(as<cuLaunchCooperativeKernel_params>(parameters), call);
        case CBID(cuLaunchKernelEx):
        case CBID(cuLaunchKernelEx_ptsz):
            return read_config(as<cuLaunchKernelEx_params>(parameters), call);
        case CBID(cuLaunch):
            call.function = as<cuLaunch_params>(parameters).f;
            call.grid = {1, 1, 1};
            return;
        case CBID(cuLaunchGrid):
        case CBID(cuLaunchGridAsync): {
            const auto& p = as<cuLaunchGrid_params>(parameters);
            call.function = p.f;
            call.grid = {static_cast<uint32_t>(p.grid_width), static_cast<uint32_t>(p.grid_height), 1};
            return;
        }
        default:
            return;
    }
}

CopyCall read_copy(uint32_t cbid, const void* parameters) {
    CopyCall copy;
    const MemoryCall* call = memory_call(cbid);
    if (call == nullptr) return copy;
    copy.kind = call->kind;
    copy.asynchronous = call->asynchronous;
    call->read(parameters, copy.bytes, copy.kind, nullptr);
    return copy;
}

MemsetCall read_memset(uint32_t cbid, const void* parameters) {
    MemsetCall set;
    const char* kind = nullptr;
    if (const MemoryCall* call = memory_call(cbid)) call->read(parameters, set.bytes, kind, &set.value);
    return set;
}

}  // namespace attnscope::collector
