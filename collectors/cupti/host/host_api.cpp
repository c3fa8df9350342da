#include "host_api.h"

#include <dlfcn.h>

#include <filesystem>

#include "attnscope/error.h"

namespace attnscope::cupti_host {
namespace {

namespace fs = std::filesystem;

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

/// CUPTI opens it by its name alone; a copy that is already in the process is what the loader then answers.
void open_sibling(const fs::path& folder, const char* name) {
    std::error_code ignored;
    const fs::path file = folder / name;
    if (fs::exists(file, ignored)) dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace

HostApi::HostApi(const std::string& file) : path(file) {
    std::error_code unresolved;
    fs::path real = fs::canonical(file, unresolved);
    if (unresolved) throw Error(file + ": " + unresolved.message() + "; name a libcupti with --cupti");
    open_sibling(real.parent_path(), "libnvperf_host.so");
    void* library = dlopen(real.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* why = dlerror();
        throw Error(file + " does not load: " + (why != nullptr ? why : "no reason given"));
    }
    decltype(&cuptiGetVersion) get_version = nullptr;
    if (!look_up(library, "cuptiGetVersion", get_version) || get_version(&version) != CUPTI_SUCCESS)
        throw Error(file + ": does not answer cuptiGetVersion, so it is no CUPTI");
    const bool complete = look_up(library, "cuptiProfilerHostGetSupportedChips", supported_chips) &&
                          look_up(library, "cuptiProfilerHostInitialize", initialize) &&
                          look_up(library, "cuptiProfilerHostDeinitialize", deinitialize) &&
                          look_up(library, "cuptiProfilerHostGetBaseMetrics", base_metrics) &&
                          look_up(library, "cuptiProfilerHostGetSubMetrics", sub_metrics) &&
                          look_up(library, "cuptiProfilerHostGetMetricProperties", metric_properties) &&
                          look_up(library, "cuptiProfilerHostConfigAddMetrics", add_metrics) &&
                          look_up(library, "cuptiProfilerHostGetConfigImageSize", config_size) &&
                          look_up(library, "cuptiProfilerHostGetConfigImage", config_image) &&
                          look_up(library, "cuptiProfilerHostGetNumOfPasses", passes) &&
                          look_up(library, "cuptiProfilerHostEvaluateToGpuValues", evaluate) &&
                          look_up(library, "cuptiRangeProfilerGetCounterDataInfo", data_info) &&
                          look_up(library, "cuptiProfilerHostGetRangeName", range_name);
    if (version < kOldestCupti || !complete)
        throw Error(file + ": CUPTI " + std::to_string(version) +
                    " has no Range Profiler; CUDA 12.6 brought it: pip install nvidia-cuda-cupti (for "
                    "CUDA 13) or 'nvidia-cuda-cupti-cu12>=12.6'");
    look_up(library, "cuptiGetResultString", result_string_);
    look_up(library, "cuptiProfilerInitialize", profiler_initialize);
    look_up(library, "cuptiDeviceGetChipName", chip_name);
    if (dlsym(library, "attnscopeVgpuCounterGround") != nullptr) ground = "fixture";
}

std::string HostApi::describe(CUptiResult result) const {
    const char* name = nullptr;
    const std::string number = std::to_string(static_cast<int>(result));
    if (result_string_ == nullptr || result_string_(result, &name) != CUPTI_SUCCESS || name == nullptr)
        return "CUPTI's error " + number;
    return std::string(name) + " (" + number + ")";
}

}  // namespace attnscope::cupti_host
