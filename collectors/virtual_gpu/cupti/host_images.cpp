// Those functions of the host API, and of the Range Profiler, that read an image: the stand-in's own are
// answered here, from the image alone; all others are the real library's.
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/counter_image.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/host_api.h"
#include "collectors/virtual_gpu/cupti/profiler_api.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/strict.h"

using namespace attnscope::vgpu::cupti;

namespace {

/// SUCCESS: ours, read into `image`; NOT_READY: not ours.
template <class Params>
CUptiResult read_ours(const Params* params, CounterImage& image, const char* function) {
    switch (image.read(params->pCounterDataImage, params->counterDataImageSize)) {
        case ImageState::good:
            return CUPTI_SUCCESS;
        case ImageState::damaged:
            return refuse(CUPTI_ERROR_INVALID_PARAMETER, function, "the counter data image is damaged",
                          "check stored images with a checksum");
        case ImageState::foreign:
            break;
    }
    return CUPTI_ERROR_NOT_READY;
}

const char* copied(const std::string& text) {
    return strdup(text.c_str());  // the client frees it
}

/// A name that this chip has, of which the image says nothing.
bool known_metric(CUpti_Profiler_Host_Object* object, const char* name) {
    CUpti_Profiler_Host_GetMetricProperties_Params params{};
    params.structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE;
    params.pHostObject = object;
    params.pMetricName = name;
    return ask_host("cuptiProfilerHostGetMetricProperties", &params) == CUPTI_SUCCESS;
}

CUptiResult evaluate(const CounterImage& image,
                     const CUpti_Profiler_Host_EvaluateToGpuValues_Params& params) {
    if (!params.pHostObject || !params.ppMetricNames || !params.pMetricValues || params.numMetrics == 0 ||
        params.rangeIndex >= image.ranges())
        return CUPTI_ERROR_INVALID_PARAMETER;
    std::vector<double> values;
    for (size_t i = 0; i < params.numMetrics; ++i) {
        const char* name = params.ppMetricNames[i];
        if (!name) return CUPTI_ERROR_INVALID_PARAMETER;
        const auto& names = image.metrics();
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end() && !known_metric(params.pHostObject, name))
            return CUPTI_ERROR_INVALID_METRIC_NAME;
        values.push_back(found == names.end()
                             ? std::numeric_limits<double>::quiet_NaN()
                             : image.value(params.rangeIndex, static_cast<size_t>(found - names.begin())));
    }
    std::copy(values.begin(), values.end(), params.pMetricValues);
    return CUPTI_SUCCESS;
}

/// An availability image of the stand-in says only which chip it is of: the real library does without.
template <class Params>
CUptiResult without_our_availability(Params* params, const char* function) {
    if (!params || !params->pCounterAvailabilityImage ||
        std::memcmp(params->pCounterAvailabilityImage, availability_magic, sizeof availability_magic) != 0)
        return ask_host(function, params);
    const char* chip =
        reinterpret_cast<const char*>(params->pCounterAvailabilityImage) + sizeof availability_magic;
    if (!params->pChipName || std::strncmp(params->pChipName, chip, 32) != 0)
        return refuse(CUPTI_ERROR_INVALID_PARAMETER, function,
                      "the counter availability image is of another chip", "ask the device that is measured");
    const auto image = params->pCounterAvailabilityImage;
    params->pCounterAvailabilityImage = nullptr;
    const CUptiResult result = ask_host(function, params);
    params->pCounterAvailabilityImage = image;
    return result;
}

}  // namespace

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    return answer(without_our_availability(params, __func__));
}

CUptiResult cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(
    CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    return answer(without_our_availability(params, __func__));
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (!complete(params, CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE))
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    CounterImage image;
    const CUptiResult ours = read_ours(params, image, __func__);
    if (ours == CUPTI_ERROR_NOT_READY) return answer(ask_host(__func__, params));
    return answer(ours ? ours : evaluate(image, *params));
}

CUptiResult cuptiProfilerHostGetRangeName(CUpti_Profiler_Host_GetRangeName_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (!complete(params, CUpti_Profiler_Host_GetRangeName_Params_STRUCT_SIZE))
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    CounterImage image;
    const CUptiResult ours = read_ours(params, image, __func__);
    if (ours == CUPTI_ERROR_NOT_READY) return answer(ask_host(__func__, params));
    if (ours) return answer(ours);
    if (params->rangeIndex >= image.ranges()) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    params->pRangeName =
        copied(joined(image.path(params->rangeIndex), params->delimiter ? params->delimiter : "/"));
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (!complete(params, CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE))
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    CounterImage image;
    const CUptiResult ours = read_ours(params, image, __func__);
    if (ours == CUPTI_ERROR_NOT_READY) return answer(ask_host(__func__, params));
    if (ours) return answer(ours);
    params->numTotalRanges = image.ranges();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataGetRangeInfo(
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (!complete(params, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE))
        return answer(CUPTI_ERROR_INVALID_PARAMETER);
    CounterImage image;
    const CUptiResult ours = read_ours(params, image, __func__);
    if (ours == CUPTI_ERROR_NOT_READY) return answer(ask_host(__func__, params));
    if (ours) return answer(ours);
    if (params->rangeIndex >= image.ranges()) return answer(CUPTI_ERROR_INVALID_PARAMETER);
    // Whose it is, is not written: it is gone at the next call.
    thread_local std::string name;
    name = joined(image.path(params->rangeIndex), params->rangeDelimiter ? params->rangeDelimiter : "/");
    params->rangeName = name.c_str();
    return CUPTI_SUCCESS;
}
