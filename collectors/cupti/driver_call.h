#pragma once
// The driver calls that a counters collection watches, and their parameters. Only the driver's domain: every
// launch through the runtime reaches it, and CUDA 13's own <<<>>> entry has no published parameters there.
// Numbers of functions never change (cupti_driver_cbid.h).
#include <cuda.h>

#include <array>
#include <cstdint>
#include <vector>

namespace attnscope::collector {

enum class CallKind : uint8_t {
    other,
    kernel,
    graph,
    multi_device,
    memcpy,
    memset,
    begin_capture,
    end_capture,
    instantiate,
    graph_changed,
    graph_updated,
    kernel_params,
    graph_destroyed,
    block_shape,
    shared_size,
    library_unload,
};

CallKind kind_of(uint32_t cbid);
/// The numbers of all watched calls.
const std::vector<uint32_t>& watched_calls();
/// Work for a GPU, unless its stream is being captured.
constexpr bool is_work(CallKind kind) {
    return kind == CallKind::kernel || kind == CallKind::graph || kind == CallKind::multi_device ||
           kind == CallKind::memcpy || kind == CallKind::memset;
}
constexpr bool is_launch(CallKind kind) {
    return kind == CallKind::kernel || kind == CallKind::graph || kind == CallKind::multi_device;
}

/// A stream as the call named it. `per_thread`: a null handle means the thread's own default stream.
struct CallStream {
    CUstream handle = nullptr;
    bool per_thread = false;
    bool is_legacy_default() const {
        return handle == CU_STREAM_LEGACY || (handle == nullptr && !per_thread);
    }
    bool is_default() const {
        return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    }
};

struct KernelCall {
    void* function = nullptr;  ///< CUfunction, or a CUkernel in its place
    std::array<uint32_t, 3> grid{}, block{};
    std::array<uint32_t, 3> cluster{};  ///< zeros: none was asked for
    uint32_t dynamic_shared = 0;
    uint8_t launch_type = 0;  ///< CUpti_ActivityLaunchType
};

struct CopyCall {
    uint64_t bytes = 0;
    const char* kind = nullptr;  ///< "HtoD"; nullptr: the call does not say
    bool asynchronous = false;
};

struct MemsetCall {
    uint64_t bytes = 0;
    uint32_t value = 0;
};

/// The stream of a call of kind kernel, graph, memcpy, memset, begin_capture or end_capture.
CallStream stream_of(uint32_t cbid, const void* parameters);
/// Of a call of kind kernel. cuLaunch, cuLaunchGrid and cuLaunchGridAsync say neither block nor shared
/// memory: these stay as they are in `call`.
void read_kernel(uint32_t cbid, const void* parameters, KernelCall& call);
CopyCall read_copy(uint32_t cbid, const void* parameters);
MemsetCall read_memset(uint32_t cbid, const void* parameters);

}  // namespace attnscope::collector
