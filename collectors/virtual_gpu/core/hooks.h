#pragma once
// The seam between the virtual driver and the CUPTI stand-in. The core raises these events; libcupti's
// stand-in listens. Nothing is installed: an API call costs one relaxed load.
#include <atomic>
#include <cstdint>

#pragma GCC visibility push(default)  // the core hides all else
namespace attnscope::vgpu {

/// Values are CUPTI's CUpti_CallbackDomain.
enum class ApiDomain : uint32_t { driver = 1, runtime = 2 };

/// One API call in progress on this thread. `cbid` and `parameters` are CUPTI's (cupti_driver_cbid.h,
/// generated_cuda_meta.h).
struct ApiCall {
    ApiDomain domain;
    uint32_t cbid;
    const char* function;
    const void* parameters;
    uint32_t correlation;           ///< the outermost call's number, shared by the calls nested in it
    uint64_t correlation_data = 0;  ///< the listener's own word, kept from enter to exit
    void* context = nullptr;        ///< CUcontext
    uint32_t context_id = 0;
    const char* symbol = nullptr;  ///< launches only: mangled kernel name
    int result = 0;                ///< at exit: CUresult or cudaError_t
    uint64_t start_ns = 0;         ///< host clock at enter, filled when somebody listens
    ApiCall* outer = nullptr;
};

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
};

/// A kernel that was accepted and issued (also each kernel node of a launched graph).
struct KernelEvent {
    uint32_t correlation;
    int device;
    uint32_t context_id, stream_id;
    const char* name;           ///< mangled; lives as long as its module
    Dim3 grid, block, cluster;  ///< cluster 0,0,0 when none was asked for
    uint32_t registers, static_shared, dynamic_shared, local_per_thread;
    bool resources_known;  ///< false for a module compiled at run time where no NVRTC is installed
    uint8_t launch_type;   ///< CUpti_ActivityLaunchType
    uint32_t graph_id = 0;
    uint64_t graph_node_id = 0;
    uint32_t shared_carveout_bytes = 0;  ///< shared memory size set by the driver, 0 unknown
};

struct CopyEvent {
    uint32_t correlation;
    int device;
    uint32_t context_id, stream_id;
    uint64_t bytes;
    uint8_t copy_kind;                      ///< CUpti_ActivityMemcpyKind
    uint8_t source_kind, destination_kind;  ///< CUpti_ActivityMemoryKind
    bool asynchronous;
    int source_device, destination_device;  ///< differ for peer copies
    uint32_t graph_id = 0;
    uint64_t graph_node_id = 0;
};

struct MemsetEvent {
    uint32_t correlation;
    int device;
    uint32_t context_id, stream_id;
    uint64_t bytes;
    uint32_t value;
    uint8_t memory_kind;
    bool asynchronous;
    uint32_t graph_id = 0;
    uint64_t graph_node_id = 0;
};

enum class ResourceEvent {
    context_created,
    context_destroy_starting,
    stream_created,
    stream_destroy_starting,
    module_loaded,
    module_unload_starting
};

/// What synchronised: CUpti_ActivitySynchronizationType.
struct SyncEvent {
    uint32_t correlation;
    uint32_t type;
    uint32_t context_id, stream_id, event_id;
};

/// All functions may be called from any thread, with no core lock held. A null member is skipped.
struct Hooks {
    void (*api_enter)(ApiCall&) = nullptr;
    void (*api_exit)(ApiCall&) = nullptr;
    void (*kernel)(const KernelEvent&) = nullptr;
    void (*copy)(const CopyEvent&) = nullptr;
    void (*set)(const MemsetEvent&) = nullptr;
    void (*synchronised)(const SyncEvent&) = nullptr;
    void (*resource)(ResourceEvent, void* context, uint32_t context_id, void* handle,
                     uint32_t handle_id) = nullptr;
    void (*driver_initialised)() = nullptr;  ///< end of cuInit (CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
};

/// Installed by libcupti's stand-in; the pointer must stay valid for ever. nullptr removes.
void set_hooks(const Hooks* hooks);
const Hooks* hooks();

/// The number of the API call in progress on this thread, or a new one when there is none.
uint32_t current_correlation();
/// Takes a new correlation id.
uint32_t next_correlation();

/// Facades put one at the top of each API function:
///     ApiScope api(ApiDomain::driver, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, "cuMemAlloc_v2", &parameters);
///     ... return api.done(result);
/// Nested scopes (runtime -> driver) share the outer correlation id.
class ApiScope {
  public:
    ApiScope(ApiDomain domain, uint32_t cbid, const char* function, const void* parameters,
             const char* symbol = nullptr);
    ~ApiScope();
    ApiScope(const ApiScope&) = delete;
    ApiScope& operator=(const ApiScope&) = delete;

    uint32_t correlation() const { return call_.correlation; }
    void set_symbol(const char* symbol) { call_.symbol = symbol; }
    template <class Result>
    Result done(Result result) {
        call_.result = static_cast<int>(result);
        return result;
    }

  private:
    ApiCall call_;
};

}  // namespace attnscope::vgpu
#pragma GCC visibility pop
