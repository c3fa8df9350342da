#include "devices.h"

#include <cuda.h>
#include <dlfcn.h>

namespace attnscope::cupti_host {
namespace {

template <class Function>
Function in_driver(void* driver, const char* name) {
    return reinterpret_cast<Function>(dlsym(driver, name));
}

}  // namespace

FoundDevices find_devices(const HostApi& api) {
    FoundDevices found;
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == nullptr) {
        found.why = "there is no NVIDIA driver on this machine (libcuda.so.1)";
        return found;
    }
    const auto init = in_driver<decltype(&cuInit)>(driver, "cuInit");
    const auto count = in_driver<decltype(&cuDeviceGetCount)>(driver, "cuDeviceGetCount");
    const auto get_name = in_driver<decltype(&cuDeviceGetName)>(driver, "cuDeviceGetName");
    const CUresult result = init == nullptr ? CUDA_ERROR_NOT_INITIALIZED : init(0);
    int devices = 0;
    if (result != CUDA_SUCCESS || count == nullptr || count(&devices) != CUDA_SUCCESS || devices == 0) {
        found.why = "the NVIDIA driver shows no device (cuInit answered " +
                    std::to_string(static_cast<int>(result)) + ")";
        return found;
    }
    // Without this, or without a driver, cuptiDeviceGetChipName crashes.
    bool chips = api.profiler_initialize != nullptr && api.chip_name != nullptr;
    if (chips) {
        ATTNSCOPE_PARAMS(CUpti_Profiler_Initialize_Params, params);
        const CUptiResult answer = api.profiler_initialize(&params);
        chips = answer == CUPTI_SUCCESS;
        if (!chips) found.why = "cuptiProfilerInitialize answered " + api.describe(answer);
    }
    for (int device = 0; device < devices; ++device) {
        FoundDevice entry{device, {}, {}};
        char name[256] = {};
        if (get_name != nullptr && get_name(name, sizeof name - 1, device) == CUDA_SUCCESS) entry.name = name;
        if (chips) {
            ATTNSCOPE_PARAMS(CUpti_Device_GetChipName_Params, params);
            params.deviceIndex = static_cast<size_t>(device);
            const CUptiResult answer = api.chip_name(&params);
            if (answer == CUPTI_SUCCESS && params.pChipName != nullptr)
                entry.chip = params.pChipName;
            else
                found.why = "cuptiDeviceGetChipName answered " + api.describe(answer);
        }
        found.devices.push_back(std::move(entry));
    }
    return found;
}

}  // namespace attnscope::cupti_host
