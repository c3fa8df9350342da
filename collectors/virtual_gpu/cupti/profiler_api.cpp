// The start of CUPTI's profiling: initialising, whether a device has counters, which. A virtual GPU has none
// but those of a fixture. What lies behind and is not the Range Profiler (PM sampling, SASS metrics) answers
// NOT_SUPPORTED in stubs.cpp.
#include "collectors/virtual_gpu/cupti/profiler_api.h"

#include <cupti.h>
#include <cupti_profiler_target.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/fixture.h"
#include "collectors/virtual_gpu/cupti/objects.h"
#include "collectors/virtual_gpu/cupti/range_profiler.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/strict.h"

using namespace attnscope::vgpu;
using namespace attnscope::vgpu::cupti;

namespace {

std::atomic<bool> initialised{false};

template <class Params>
CUptiResult check(const Params* params, size_t struct_size, const char* function) {
    if (!params)
        return refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, function, "the parameters are NULL",
                            "pass a parameter structure");
    return complete(params, struct_size) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

}  // namespace

namespace attnscope::vgpu::cupti {

bool profiler_initialised() {
    return initialised.load();
}

bool has_range_profiling(int ordinal) {
    const Gpu& gpu = device(ordinal);
    return (gpu.major > 7 || (gpu.major == 7 && gpu.minor >= 5)) && !fault_happens(Fault::unsupported_device);
}

CUptiResult no_counters(const char* function) {
    if (fixture_loaded()) return CUPTI_SUCCESS;
    report("warning", "no-counters",
           std::string(function) + " was called: a virtual GPU has no hardware counters",
           "run on a real GPU for counters; names, passes and properties of metrics are there without one");
    return CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED;
}

}  // namespace attnscope::vgpu::cupti

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (const CUptiResult error = check(params, CUpti_Profiler_Initialize_Params_STRUCT_SIZE, __func__))
        return answer(error);
    initialised = true;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (const CUptiResult error = check(params, CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE, __func__))
        return answer(error);
    drop_range_profilers();
    initialised = false;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (const CUptiResult error = check(params, CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE, __func__))
        return answer(error);
    if (params->cuDevice < 0 || static_cast<size_t>(params->cuDevice) >= device_count())
        return answer(CUPTI_ERROR_INVALID_DEVICE);
    const auto level = [](bool supported) {
        return supported ? CUPTI_PROFILER_CONFIGURATION_SUPPORTED : CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    };
    const bool architecture = has_range_profiling(params->cuDevice);
    params->architecture = level(architecture);
    params->sli = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    params->confidentialCompute = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    params->cmp = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    params->wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    // The reason that comes nearest: profiling does not work on a GPU that is virtual.
    params->vGpu = level(fixture_loaded());
    params->isSupported = level(architecture && fixture_loaded());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (const CUptiResult error =
            check(params, CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, __func__))
        return answer(error);
    if (!fixture_loaded()) {
        no_counters(__func__);
        return answer(CUPTI_ERROR_NOT_SUPPORTED);
    }
    if (!profiler_initialised())
        return answer(refuse_crash(CUPTI_ERROR_NOT_INITIALIZED, __func__, "the profiler is not initialised",
                                   "call cuptiProfilerInitialize first"));
    const CUcontext context = params->ctx ? params->ctx : current_context();
    const auto ordinal = context ? device_of(context) : std::nullopt;
    if (!ordinal) return answer(CUPTI_ERROR_INVALID_CONTEXT);
    if (device_has_range_profiler(*ordinal))
        return answer(
            refuse(CUPTI_ERROR_INVALID_OPERATION, __func__,
                   "range profiling is enabled on the context's device: the header says that it may fail",
                   "ask before cuptiRangeProfilerEnable"));
    if (params->pCounterAvailabilityImage) {
        if (params->counterAvailabilityImageSize < availability_bytes)
            return answer(CUPTI_ERROR_INVALID_PARAMETER);
        char image[availability_bytes] = {};
        const std::string& chip = device(static_cast<int>(*ordinal)).chip;
        std::copy_n(availability_magic, sizeof availability_magic, image);
        std::copy_n(chip.data(), std::min<size_t>(chip.size(), 32), image + sizeof availability_magic);
        std::memcpy(params->pCounterAvailabilityImage, image, sizeof image);
    }
    params->counterAvailabilityImageSize = availability_bytes;
    return CUPTI_SUCCESS;
}

/// What the values of this library's images are worth, for who evaluates them: also in a process that has no
/// virtual device.
extern "C" __attribute__((visibility("default"))) const char* attnscopeVgpuCounterGround(void) {
    return "fixture";
}
