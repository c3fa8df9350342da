#pragma once
// The host side of CUPTI (cupti_profiler_host.h and what it needs), looked up in the library that was named.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <cstdint>
#include <string>

namespace attnscope::cupti_host {

constexpr uint32_t kOldestCupti = 24;  ///< CUDA 12.6: the first with the Range Profiler

/// The params structures of CUPTI are cleared and carry their size (the X_STRUCT_SIZE macro, not sizeof).
#define ATTNSCOPE_PARAMS(type, name) \
    type name{};                     \
    name.structSize = type##_STRUCT_SIZE

struct HostApi {
    /// Opens the file, its siblings first (CUPTI itself looks for libnvperf_host.so along the loader's path
    /// alone). Throws Error when it is no CUPTI or too old.
    explicit HostApi(const std::string& file);

    std::string path;      ///< as named
    uint32_t version = 0;  ///< cuptiGetVersion
    /// "fixture": the virtual GPU's stand-in, whose images hold what a file gave. Else "real".
    std::string ground = "real";

    decltype(&cuptiProfilerHostGetSupportedChips) supported_chips = nullptr;
    decltype(&cuptiProfilerHostInitialize) initialize = nullptr;
    decltype(&cuptiProfilerHostDeinitialize) deinitialize = nullptr;
    decltype(&cuptiProfilerHostGetBaseMetrics) base_metrics = nullptr;
    decltype(&cuptiProfilerHostGetSubMetrics) sub_metrics = nullptr;
    decltype(&cuptiProfilerHostGetMetricProperties) metric_properties = nullptr;
    decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
    decltype(&cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
    decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
    decltype(&cuptiProfilerHostGetNumOfPasses) passes = nullptr;
    decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataInfo) data_info = nullptr;
    decltype(&cuptiProfilerHostGetRangeName) range_name = nullptr;

    // Only with a driver.
    decltype(&cuptiProfilerInitialize) profiler_initialize = nullptr;
    decltype(&cuptiDeviceGetChipName) chip_name = nullptr;

    /// "CUPTI_ERROR_INVALID_PARAMETER (1)"
    std::string describe(CUptiResult result) const;

  private:
    decltype(&cuptiGetResultString) result_string_ = nullptr;
};

}  // namespace attnscope::cupti_host
