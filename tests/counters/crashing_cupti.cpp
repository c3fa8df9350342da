// A host side of CUPTI that crashes over images which say so.
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_version.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#define EXPORTED extern "C" __attribute__((visibility("default")))
#define REFUSED(name, params)             \
    EXPORTED CUptiResult name(params*) {  \
        return CUPTI_ERROR_NOT_SUPPORTED; \
    }

EXPORTED CUptiResult cuptiGetVersion(uint32_t* version) {
    *version = 130000;
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult
cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
    static const char* const chips[] = {"GH100"};
    params->numChips = 1;
    params->ppChipNames = chips;
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
    static int object = 0;
    params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&object);
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) {
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
    const std::string_view image(reinterpret_cast<const char*>(params->pCounterDataImage),
                                 params->counterDataImageSize);
    if (image == "crash") std::raise(SIGSEGV);
    if (image == "abort") std::abort();
    params->numTotalRanges = 1;
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    for (size_t i = 0; i < params->numMetrics; ++i) params->pMetricValues[i] = 42;
    return CUPTI_SUCCESS;
}

REFUSED(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params)
REFUSED(cuptiProfilerHostGetSubMetrics, CUpti_Profiler_Host_GetSubMetrics_Params)
REFUSED(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params)
REFUSED(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)
REFUSED(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params)
REFUSED(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)
REFUSED(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params)
REFUSED(cuptiProfilerHostGetRangeName, CUpti_Profiler_Host_GetRangeName_Params)
