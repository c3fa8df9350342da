#include "range_profiler_api.h"

#include <dlfcn.h>

namespace attnscope::collector {
namespace {

class LookUp {
  public:
    explicit LookUp(void* library) : library_(library) {}
    template <class Function>
    void needed(const char* name, Function& function) {
        optional(name, function);
        if (function == nullptr && missing_ == nullptr) missing_ = name;
    }
    template <class Function>
    void optional(const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(library_, name));
    }
    const char* missing() const { return missing_; }

  private:
    void* library_;
    const char* missing_ = nullptr;
};

constexpr const char* kPermission =
    "counters need a privilege, tracing does not: run as root or with CAP_SYS_ADMIN, or set the NVIDIA "
    "module's option NVreg_RestrictProfilingToAdminUsers=0 and reload it; in a container use "
    "--cap-add=SYS_ADMIN "
    "and root inside, or the option on the host (https://developer.nvidia.com/ERR_NVGPUCTRPERM)";
constexpr const char* kBusy =
    "end the other profiler, which may be another process of this run on the same GPU; where DCGM watches "
    "the GPU: dcgmi profile --pause, then --resume afterwards";

}  // namespace

const char* look_up_callbacks(void* library, CallbackApi& api) {
    LookUp look_up(library);
    look_up.needed("cuptiSubscribe", api.subscribe);
    look_up.optional("cuptiSubscribe_v2", api.subscribe_v2);
    look_up.needed("cuptiUnsubscribe", api.unsubscribe);
    look_up.needed("cuptiEnableCallback", api.enable_callback);
    look_up.needed("cuptiGetDeviceId", api.get_device_id);
    look_up.needed("cuptiGetContextId", api.get_context_id);
    look_up.needed("cuptiGetStreamIdEx", api.get_stream_id);
    return look_up.missing();
}

const char* look_up_range_profiler(void* library, RangeProfilerApi& api) {
    LookUp look_up(library);
    look_up.needed("cuptiProfilerInitialize", api.initialize);
    look_up.needed("cuptiProfilerDeviceSupported", api.device_supported);
    look_up.needed("cuptiDeviceGetChipName", api.get_chip_name);
    look_up.needed("cuptiProfilerGetCounterAvailability", api.get_availability);
    look_up.needed("cuptiRangeProfilerEnable", api.enable);
    look_up.needed("cuptiRangeProfilerDisable", api.disable);
    look_up.needed("cuptiRangeProfilerGetCounterDataSize", api.get_data_size);
    look_up.needed("cuptiRangeProfilerCounterDataImageInitialize", api.initialize_data);
    look_up.needed("cuptiRangeProfilerSetConfig", api.set_config);
    look_up.needed("cuptiRangeProfilerStart", api.start);
    look_up.needed("cuptiRangeProfilerStop", api.stop);
    look_up.needed("cuptiRangeProfilerPushRange", api.push_range);
    look_up.needed("cuptiRangeProfilerPopRange", api.pop_range);
    look_up.needed("cuptiRangeProfilerDecodeData", api.decode);
    look_up.needed("cuptiRangeProfilerGetCounterDataInfo", api.get_data_info);
    return look_up.missing();
}

CuptiFailure counters_failure(const CuptiApi& cupti, const char* call, CUptiResult result) {
    const std::string answer = std::string(call) + " answered " + cupti.describe(result);
    switch (result) {
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
            return {"counters-permission",
                    "no permission to read hardware counters (ERR_NVGPUCTRPERM): " + answer, kPermission};
        case CUPTI_ERROR_HARDWARE_BUSY:
            return {"counters-busy", "another profiler or DCGM holds the GPU's counters: " + answer, kBusy};
        case CUPTI_ERROR_OUT_OF_MEMORY:
            return {"counters-out-of-memory", "no memory for counters: " + answer,
                    "leave more of the GPU's and the machine's memory free, or ask for fewer metrics"};
        case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
        case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
        case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
            return {"counters-unsupported-device", "this device gives no counters: " + answer,
                    "use a device, or a setting of it, that CUPTI's Range Profiler supports"};
        default:
            return {"counters-failed", answer, "attnscope doctor says what is wrong with this machine"};
    }
}

}  // namespace attnscope::collector
