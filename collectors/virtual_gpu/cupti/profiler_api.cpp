// The start of CUPTI's profiling: it initialises, and says that this device has no counters. What lies behind
// (cuptiRangeProfiler..., PM sampling) answers NOT_SUPPORTED in stubs.cpp.
#include <cupti.h>
#include <cupti_profiler_target.h>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/result.h"

using namespace attnscope::vgpu;
using namespace attnscope::vgpu::cupti;

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
    return answer(complete(params, CUpti_Profiler_Initialize_Params_STRUCT_SIZE)
                      ? CUPTI_SUCCESS
                      : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
    return answer(complete(params, CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE)
                      ? CUPTI_SUCCESS
                      : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
    if (!complete(params, CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE))
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    if (params->cuDevice < 0 || static_cast<size_t>(params->cuDevice) >= device_count())
        return answer(CUPTI_ERROR_INVALID_DEVICE);
    const bool architecture = device(params->cuDevice).major >= 7;
    params->architecture =
        architecture ? CUPTI_PROFILER_CONFIGURATION_SUPPORTED : CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    params->sli = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    params->confidentialCompute = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    params->cmp = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    params->wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    // The reason that comes nearest: profiling does not work on a GPU that is virtual.
    params->vGpu = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    params->isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    return CUPTI_SUCCESS;
}
