#include "probe_client.h"

#include <dlfcn.h>
#include <link.h>

#include <cmath>
#include <cstring>

namespace attnscope::probe {
namespace {

void* load(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
    throw std::runtime_error(std::string("not found: ") + *names.begin() + " (" + dlerror() + ")");
}

void* driver_library() {
    static void* const library = load({"libcuda.so.1"});
    return library;
}
void* cupti_library() {
    static void* const library = load({"libcupti.so.13", "libcupti.so.12", "libcupti.so"});
    return library;
}

void* symbol(void* library, const char* name) {
    if (void* found = dlsym(library, name)) return found;
    throw std::runtime_error(std::string(name) + " is not in this library");
}

template <class Params>
Params params(size_t struct_size) {
    Params p{};
    p.structSize = struct_size;
    return p;
}
#define PARAMS(type) params<type>(type##_STRUCT_SIZE)

}  // namespace

void* driver_symbol(const char* name) {
    return symbol(driver_library(), name);
}
void* cupti_symbol(const char* name) {
    return symbol(cupti_library(), name);
}
std::string cupti_path() {
    link_map* map = nullptr;
    return dlinfo(cupti_library(), RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

std::string result_name(CUptiResult result) {
    const char* text = nullptr;
    if (TRY_CUPTI(cuptiGetResultString)(result, &text) == CUPTI_SUCCESS && text != nullptr) return text;
    return std::to_string(result);
}

void check(const char* function, CUresult result) {
    if (result != CUDA_SUCCESS)
        throw std::runtime_error(std::string(function) + " answered " + std::to_string(result));
}
void check(const char* function, CUptiResult result) {
    if (result != CUPTI_SUCCESS) throw CuptiError(function, result);
}

Gpu::Gpu(const std::string& module_file) {
    DRIVER(cuInit, 0);
    CUdevice device = 0;
    DRIVER(cuDeviceGet, &device, 0);
    DRIVER(cuDevicePrimaryCtxRetain, &context, device);
    DRIVER(cuCtxSetCurrent, context);
    CUmodule module = nullptr;
    DRIVER(cuModuleLoad, &module, module_file.c_str());
    DRIVER(cuModuleGetFunction, &spin, module, "probe_spin");
    DRIVER(cuModuleGetFunction, &touch, module, "probe_touch");
}

CUresult Gpu::launch_spin(unsigned long long cycles, unsigned ctas, CUstream stream, unsigned threads) const {
    void* arguments[] = {&cycles};
    return TRY_DRIVER(cuLaunchKernel)(spin, ctas, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr);
}
CUresult Gpu::launch_touch(CUdeviceptr data, unsigned long long floats, CUstream stream) const {
    void* arguments[] = {&data, &floats};
    return TRY_DRIVER(cuLaunchKernel)(touch, 1056, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr);
}

std::vector<std::string> core_metrics() {
    return {"sm__warps_active.avg.pct_of_peak_sustained_active",
            "dram__bytes_read.sum",
            "dram__bytes_write.sum",
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
            "sm__cycles_active.avg",
            "gpu__time_duration.sum"};
}

Profiler::Profiler(CUcontext context, std::vector<std::string> metrics) : metrics_(std::move(metrics)) {
    for (const std::string& name : metrics_) names_.push_back(name.c_str());
    auto initialize = PARAMS(CUpti_Profiler_Initialize_Params);
    CUPTI(cuptiProfilerInitialize, &initialize);
    auto chip = PARAMS(CUpti_Device_GetChipName_Params);
    CUPTI(cuptiDeviceGetChipName, &chip);
    chip_ = chip.pChipName;
    auto availability = PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
    availability.ctx = context;
    CUPTI(cuptiProfilerGetCounterAvailability, &availability);
    std::vector<uint8_t> available(availability.counterAvailabilityImageSize);
    availability.pCounterAvailabilityImage = available.data();
    CUPTI(cuptiProfilerGetCounterAvailability, &availability);

    auto host = PARAMS(CUpti_Profiler_Host_Initialize_Params);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip_.c_str();
    host.pCounterAvailabilityImage = available.data();
    CUPTI(cuptiProfilerHostInitialize, &host);
    host_ = host.pHostObject;
    auto add = PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = host_;
    add.ppMetricNames = names_.data();
    add.numMetrics = names_.size();
    CUPTI(cuptiProfilerHostConfigAddMetrics, &add);
    auto size = PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = host_;
    CUPTI(cuptiProfilerHostGetConfigImageSize, &size);
    config_.resize(size.configImageSize);
    auto image = PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
    image.pHostObject = host_;
    image.pConfigImage = config_.data();
    image.configImageSize = config_.size();
    CUPTI(cuptiProfilerHostGetConfigImage, &image);
    auto passes = PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
    passes.pConfigImage = config_.data();
    passes.configImageSize = config_.size();
    CUPTI(cuptiProfilerHostGetNumOfPasses, &passes);
    passes_ = passes.numOfPasses;

    auto enable = PARAMS(CUpti_RangeProfiler_Enable_Params);
    enable.ctx = context;
    CUPTI(cuptiRangeProfilerEnable, &enable);
    object_ = enable.pRangeProfilerObject;
}

Profiler::~Profiler() {
    auto disable = PARAMS(CUpti_RangeProfiler_Disable_Params);
    disable.pRangeProfilerObject = object_;
    if (object_ != nullptr) TRY_CUPTI(cuptiRangeProfilerDisable)(&disable);
    auto deinitialize = PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    deinitialize.pHostObject = host_;
    if (host_ != nullptr) TRY_CUPTI(cuptiProfilerHostDeinitialize)(&deinitialize);
}

CUptiResult Profiler::configure(const Config& config) {
    auto size = PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = names_.data();
    size.numMetrics = names_.size();
    size.maxNumOfRanges = config.capacity;
    size.maxNumRangeTreeNodes = static_cast<uint32_t>(config.capacity);
    CUPTI(cuptiRangeProfilerGetCounterDataSize, &size);
    image_.assign(size.counterDataSize, 0);
    reset_image();
    auto set = PARAMS(CUpti_RangeProfiler_SetConfig_Params);
    set.pRangeProfilerObject = object_;
    set.configSize = config_.size();
    set.pConfig = config_.data();
    set.counterDataImageSize = image_.size();
    set.pCounterDataImage = image_.data();
    set.range = config.range;
    set.replayMode = config.replay;
    set.maxRangesPerPass = config.ranges_per_pass;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.targetNestingLevel = 1;
    return TRY_CUPTI(cuptiRangeProfilerSetConfig)(&set);
}

void Profiler::reset_image() {
    auto initialize = PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    initialize.pRangeProfilerObject = object_;
    initialize.counterDataSize = image_.size();
    initialize.pCounterData = image_.data();
    CUPTI(cuptiRangeProfilerCounterDataImageInitialize, &initialize);
}

CUptiResult Profiler::start() {
    auto start = PARAMS(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = object_;
    return TRY_CUPTI(cuptiRangeProfilerStart)(&start);
}
CUptiResult Profiler::stop() {
    auto stop = PARAMS(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = object_;
    return TRY_CUPTI(cuptiRangeProfilerStop)(&stop);
}
CUptiResult Profiler::push(const char* name) {
    auto push = PARAMS(CUpti_RangeProfiler_PushRange_Params);
    push.pRangeProfilerObject = object_;
    push.pRangeName = name;
    return TRY_CUPTI(cuptiRangeProfilerPushRange)(&push);
}
CUptiResult Profiler::pop() {
    auto pop = PARAMS(CUpti_RangeProfiler_PopRange_Params);
    pop.pRangeProfilerObject = object_;
    return TRY_CUPTI(cuptiRangeProfilerPopRange)(&pop);
}
CUptiResult Profiler::decode(size_t* dropped) {
    auto decode = PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = object_;
    const CUptiResult result = TRY_CUPTI(cuptiRangeProfilerDecodeData)(&decode);
    if (dropped != nullptr) *dropped = decode.numOfRangeDropped;
    return result;
}

size_t Profiler::ranges() const {
    auto info = PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    CUPTI(cuptiRangeProfilerGetCounterDataInfo, &info);
    return info.numTotalRanges;
}

Values Profiler::evaluate(size_t range) const {
    std::vector<double> values(names_.size(), std::nan(""));
    std::vector<const char*> names = names_;
    auto evaluate = PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    evaluate.pHostObject = host_;
    evaluate.pCounterDataImage = image_.data();
    evaluate.counterDataImageSize = image_.size();
    evaluate.rangeIndex = range;
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = values.data();
    CUPTI(cuptiProfilerHostEvaluateToGpuValues, &evaluate);
    Values out;
    for (size_t i = 0; i < values.size(); ++i) out[metrics_[i]] = values[i];
    return out;
}

std::string Profiler::range_name(size_t range) const {
    auto info = PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    info.rangeIndex = range;
    info.rangeDelimiter = "/";
    CUPTI(cuptiRangeProfilerCounterDataGetRangeInfo, &info);
    return info.rangeName != nullptr ? info.rangeName : "";
}

}  // namespace attnscope::probe
