#pragma once
// A client of the Range Profiler as CUPTI's samples write one, on a context of the virtual driver. Kernels
// are raised at the seam where the core raises them, so that none is needed. The environment is read once a
// process: each test runs in a child of its own (in_child), which the parent must not spoil with a CUPTI
// call.
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/observer.h"

namespace range_client {

using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr int skipped_code = 77;

/// The status of a child that ran `body` under these variables.
template <class Body>
int run_child(const Environment& environment, Body body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
        body();
        std::fflush(nullptr);
        _exit(testing::Test::HasFailure() ? 1 : testing::Test::IsSkipped() ? skipped_code : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

template <class Body>
void in_child(const Environment& environment, Body body) {
    const int status = run_child(environment, body);
    if (WIFEXITED(status) && WEXITSTATUS(status) == skipped_code) GTEST_SKIP() << "see above";
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

/// A fixture file; the values are the tests' own.
inline std::string fixture_file() {
    static const std::string path = [] {
        std::string name = testing::TempDir() + "cupti_range_" + std::to_string(getpid()) + ".json";
        std::ofstream(name) << R"({"attnscope_fixture": 1, "note": "made for this test", "kernels": [
            {"match": "flash", "metrics": {"dram__bytes_read.sum": 1000.0,
                                           "sm__warps_active.avg.pct_of_peak_sustained_active": 12.5}},
            {"match": "^_Z", "metrics": {"dram__bytes_read.sum": 7.0}}],
          "ranges": [{"match": "^step/inner$", "metrics": {"dram__bytes_read.sum": 3.0}},
                     {"match": "step", "metrics": {"dram__bytes_read.sum": 5.0}}]})";
        return name;
    }();
    return path;
}

inline Environment with_fixture(Environment more = {}) {
    more.emplace_back("ATTNSCOPE_VGPU_COUNTERS", fixture_file());
    return more;
}

/// Codes of the diagnostics so far, and their messages.
struct Diagnostics {
    std::vector<std::pair<std::string, std::string>> all;
    Diagnostics() {
        AttnscopeVgpuObserver observer{};
        observer.size = sizeof observer;
        observer.user = this;
        observer.diagnostic = [](void* user, const AttnscopeVgpuDiagnostic* d) {
            static_cast<Diagnostics*>(user)->all.emplace_back(d->code, d->message);
        };
        attnscopeVgpuSetObserver(&observer);
    }
    ~Diagnostics() { attnscopeVgpuSetObserver(nullptr); }
    size_t count(const std::string& code) const {
        size_t n = 0;
        for (const auto& entry : all) n += entry.first == code;
        return n;
    }
};

#define RANGE_PARAMS(type, name)  \
    CUpti_##type##_Params name{}; \
    name.structSize = CUpti_##type##_Params_STRUCT_SIZE

inline CUcontext primary_context(int device) {
    CUcontext context = nullptr;
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return nullptr;
    cuCtxSetCurrent(context);
    return context;
}

inline CUptiResult initialise_profiler() {
    RANGE_PARAMS(Profiler_Initialize, params);
    return cuptiProfilerInitialize(&params);
}

/// Kernels as the core issues them in one API call.
inline void launch(CUcontext context, std::vector<const char*> names = {"_Z6kernelv"},
                   uint64_t graph_node = 0) {
    using namespace attnscope::vgpu;
    uint32_t id = 0;
    cuptiGetContextId(context, &id);
    ApiScope api(ApiDomain::driver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", nullptr,
                 names.front());
    for (const char* name : names) {
        KernelEvent event{};
        event.correlation = api.correlation();
        event.context_id = id;
        event.name = name;
        event.graph_node_id = graph_node;
        if (hooks()->kernel) hooks()->kernel(event);
    }
    api.done(0);
}

inline const std::vector<const char*>& metric_names() {
    static const std::vector<const char*> names = {"sm__warps_active.avg.pct_of_peak_sustained_active",
                                                   "dram__bytes_read.sum"};
    return names;
}

/// A host object for a chip; nullptr where NVIDIA's library is not installed.
struct Host {
    CUpti_Profiler_Host_Object* object = nullptr;
    explicit Host(const char* chip = "GH100", const uint8_t* availability = nullptr) {
        RANGE_PARAMS(Profiler_Host_Initialize, params);
        params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        params.pChipName = chip;
        params.pCounterAvailabilityImage = availability;
        if (cuptiProfilerHostInitialize(&params) == CUPTI_SUCCESS) object = params.pHostObject;
    }
    ~Host() {
        RANGE_PARAMS(Profiler_Host_Deinitialize, params);
        params.pHostObject = object;
        if (object) cuptiProfilerHostDeinitialize(&params);
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    std::vector<uint8_t> config(std::vector<const char*> names = metric_names()) {
        RANGE_PARAMS(Profiler_Host_ConfigAddMetrics, add);
        add.pHostObject = object;
        add.ppMetricNames = names.data();
        add.numMetrics = names.size();
        EXPECT_EQ(CUPTI_SUCCESS, cuptiProfilerHostConfigAddMetrics(&add));
        RANGE_PARAMS(Profiler_Host_GetConfigImageSize, size);
        size.pHostObject = object;
        EXPECT_EQ(CUPTI_SUCCESS, cuptiProfilerHostGetConfigImageSize(&size));
        std::vector<uint8_t> bytes(size.configImageSize);
        RANGE_PARAMS(Profiler_Host_GetConfigImage, image);
        image.pHostObject = object;
        image.configImageSize = bytes.size();
        image.pConfigImage = bytes.data();
        EXPECT_EQ(CUPTI_SUCCESS, cuptiProfilerHostGetConfigImage(&image));
        return bytes;
    }

    /// `values` are left as they are on an error.
    CUptiResult evaluate(const std::vector<uint8_t>& image, size_t range, std::vector<const char*> names,
                         std::vector<double>& values) const {
        values.resize(names.size(), -1);
        RANGE_PARAMS(Profiler_Host_EvaluateToGpuValues, params);
        params.pHostObject = object;
        params.pCounterDataImage = image.data();
        params.counterDataImageSize = image.size();
        params.rangeIndex = range;
        params.ppMetricNames = names.data();
        params.numMetrics = names.size();
        params.pMetricValues = values.data();
        return cuptiProfilerHostEvaluateToGpuValues(&params);
    }
};

/// Bytes that pass for a config image of GH100 where no real one can be made: what the stand-in looks at.
inline std::vector<uint8_t> config_of(const char* chip) {
    std::vector<uint8_t> bytes(256);
    bytes[0] = 24;
    std::memcpy(&bytes[4], "LOPC", 4);
    std::strcpy(reinterpret_cast<char*>(&bytes[48]), chip);
    return bytes;
}

struct Profiler {
    CUpti_RangeProfiler_Object* object = nullptr;
    std::vector<uint8_t> image;
    std::vector<uint8_t> config = config_of("GH100");
    size_t ranges = 8, nodes = 32;

    CUptiResult enable(CUcontext context) {
        RANGE_PARAMS(RangeProfiler_Enable, params);
        params.ctx = context;
        const CUptiResult result = cuptiRangeProfilerEnable(&params);
        if (result == CUPTI_SUCCESS) object = params.pRangeProfilerObject;
        return result;
    }
    CUptiResult disable() {
        RANGE_PARAMS(RangeProfiler_Disable, params);
        params.pRangeProfilerObject = object;
        return cuptiRangeProfilerDisable(&params);
    }
    CUptiResult size() {
        RANGE_PARAMS(RangeProfiler_GetCounterDataSize, params);
        params.pRangeProfilerObject = object;
        auto names = metric_names();
        params.pMetricNames = names.data();
        params.numMetrics = names.size();
        params.maxNumOfRanges = ranges;
        params.maxNumRangeTreeNodes = static_cast<uint32_t>(nodes);
        const CUptiResult result = cuptiRangeProfilerGetCounterDataSize(&params);
        if (result == CUPTI_SUCCESS) image.assign(params.counterDataSize, 0);
        return result;
    }
    CUptiResult initialise() {
        RANGE_PARAMS(RangeProfiler_CounterDataImage_Initialize, params);
        params.pRangeProfilerObject = object;
        params.counterDataSize = image.size();
        params.pCounterData = image.data();
        return cuptiRangeProfilerCounterDataImageInitialize(&params);
    }
    CUpti_RangeProfiler_SetConfig_Params config_params(bool user_range = false) {
        RANGE_PARAMS(RangeProfiler_SetConfig, params);
        params.pRangeProfilerObject = object;
        params.configSize = config.size();
        params.pConfig = config.data();
        params.counterDataImageSize = image.size();
        params.pCounterDataImage = image.data();
        params.range = user_range ? CUPTI_UserRange : CUPTI_AutoRange;
        params.replayMode = user_range ? CUPTI_UserReplay : CUPTI_KernelReplay;
        params.maxRangesPerPass = ranges;
        params.numNestingLevels = 1;
        params.minNestingLevel = 1;
        params.targetNestingLevel = 1;
        return params;
    }
    CUptiResult configure(bool user_range = false) {
        auto params = config_params(user_range);
        return cuptiRangeProfilerSetConfig(&params);
    }
    CUptiResult start() {
        RANGE_PARAMS(RangeProfiler_Start, params);
        params.pRangeProfilerObject = object;
        return cuptiRangeProfilerStart(&params);
    }
    bool all_passes = false;
    CUptiResult stop() {
        RANGE_PARAMS(RangeProfiler_Stop, params);
        params.pRangeProfilerObject = object;
        const CUptiResult result = cuptiRangeProfilerStop(&params);
        all_passes = params.isAllPassSubmitted == 1;
        return result;
    }
    CUptiResult push(const char* name) {
        RANGE_PARAMS(RangeProfiler_PushRange, params);
        params.pRangeProfilerObject = object;
        params.pRangeName = name;
        return cuptiRangeProfilerPushRange(&params);
    }
    CUptiResult pop() {
        RANGE_PARAMS(RangeProfiler_PopRange, params);
        params.pRangeProfilerObject = object;
        return cuptiRangeProfilerPopRange(&params);
    }
    size_t dropped = 0;
    CUptiResult decode() {
        RANGE_PARAMS(RangeProfiler_DecodeData, params);
        params.pRangeProfilerObject = object;
        const CUptiResult result = cuptiRangeProfilerDecodeData(&params);
        dropped = params.numOfRangeDropped;
        return result;
    }
    /// -1: an error.
    int total() const {
        RANGE_PARAMS(RangeProfiler_GetCounterDataInfo, params);
        params.pCounterDataImage = image.data();
        params.counterDataImageSize = image.size();
        return cuptiRangeProfilerGetCounterDataInfo(&params) == CUPTI_SUCCESS
                   ? static_cast<int>(params.numTotalRanges)
                   : -1;
    }
    std::string name(size_t range, const char* delimiter = "/") const {
        RANGE_PARAMS(RangeProfiler_CounterData_GetRangeInfo, params);
        params.pCounterDataImage = image.data();
        params.counterDataImageSize = image.size();
        params.rangeIndex = range;
        params.rangeDelimiter = delimiter;
        return cuptiRangeProfilerCounterDataGetRangeInfo(&params) == CUPTI_SUCCESS ? params.rangeName : "?";
    }
    /// Everything up to SetConfig.
    void ready(CUcontext context, bool user_range = false) {
        ASSERT_EQ(CUPTI_SUCCESS, initialise_profiler());
        // Outside kernel replay the passes are asked of the real library, which must not be given a made-up
        // one.
        if (user_range && config == config_of("GH100"))
            if (Host host; host.object) config = host.config();
        ASSERT_EQ(CUPTI_SUCCESS, enable(context));
        ASSERT_EQ(CUPTI_SUCCESS, size());
        ASSERT_EQ(CUPTI_SUCCESS, initialise());
        ASSERT_EQ(CUPTI_SUCCESS, configure(user_range));
    }
};

}  // namespace range_client
