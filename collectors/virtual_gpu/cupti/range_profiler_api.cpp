// cuptiRangeProfiler...: the rules of call order, sizes and values. What the header leaves open is refused,
// with a diagnostic that says why.
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/config_image.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/fixture.h"
#include "collectors/virtual_gpu/cupti/listener.h"
#include "collectors/virtual_gpu/cupti/memory.h"
#include "collectors/virtual_gpu/cupti/profiler_api.h"
#include "collectors/virtual_gpu/cupti/range_profiler.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/strict.h"

using namespace attnscope::vgpu::cupti;

namespace {

size_t number_of(const char* variable, size_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What every call checks first.
template <class Params>
CUptiResult check(const Params* params, size_t struct_size, const char* function) {
    if (!params)
        return refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, function, "the parameters are NULL",
                            "pass a parameter structure");
    if (params->structSize < struct_size)
        return refuse(CUPTI_ERROR_INVALID_PARAMETER, function,
                      "structSize is " + std::to_string(params->structSize) + ", the structure has " +
                          std::to_string(struct_size),
                      "set structSize to the structure's _STRUCT_SIZE macro");
    return CUPTI_SUCCESS;
}

/// A call on a profiler: found, alive, and entered by this thread alone.
class Call {
  public:
    template <class Params>
    Call(const Params* params, size_t struct_size, const char* function) : function_(function) {
        error_ = check(params, struct_size, function);
        if (!error_) find(params->pRangeProfilerObject);
    }
    ~Call() {
        if (entered_) profiler_->entered.clear();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    CUptiResult error() const { return error_; }
    RangeProfiler* operator->() { return profiler_.get(); }
    CUptiResult refused(CUptiResult result, const std::string& what, const std::string& remedy) const {
        return refuse(result, function_, what, remedy);
    }
    CUptiResult wrong_order(const std::string& what, const std::string& remedy) const {
        return refused(CUPTI_ERROR_INVALID_OPERATION, what, remedy);
    }
    CUptiResult wrong_value(const std::string& what, const std::string& remedy) const {
        return refused(CUPTI_ERROR_INVALID_PARAMETER, what, remedy);
    }

  private:
    void find(RangeHandle handle) {
        if (!profiler_initialised()) {
            error_ = refuse_crash(CUPTI_ERROR_NOT_INITIALIZED, function_, "the profiler is not initialised",
                                  "call cuptiProfilerInitialize first");
            return;
        }
        if (!handle) {
            error_ = refused(CUPTI_ERROR_INVALID_PARAMETER, "the range profiler object is NULL",
                             "pass the object that cuptiRangeProfilerEnable gave");
            return;
        }
        profiler_ = range_profiler(handle);
        if (!profiler_) {
            error_ = refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, function_,
                                  "the range profiler object is not alive (disabled, its context destroyed, "
                                  "or of the parent of a fork)",
                                  "use an object only until it is disabled, in the process that enabled it");
            return;
        }
        if (profiler_->entered.test_and_set()) {
            error_ = wrong_order("another thread is in a range profiler call on this object",
                                 "one thread at a time: nobody documents that two may be");
            return;
        }
        entered_ = true;
        lock_ = std::unique_lock(profiler_->mutex);
    }

    const char* function_;
    CUptiResult error_ = CUPTI_SUCCESS;
    std::shared_ptr<RangeProfiler> profiler_;
    bool entered_ = false;
    std::unique_lock<std::mutex> lock_;
};

#define ATTNSCOPE_RANGE_CALL(call, name)                                   \
    ATTNSCOPE_FAULT_POINT;                                                 \
    Call call(params, CUpti_RangeProfiler_##name##_STRUCT_SIZE, __func__); \
    if (call.error()) return answer(call.error())

/// The configuration that SetConfig asks for; CUPTI_SUCCESS where it is one.
CUptiResult read_config(const Call& call, const CUpti_RangeProfiler_SetConfig_Params& params,
                        const std::string& chip, RangeConfig& config) {
    config.user_range = params.range == CUPTI_UserRange;
    config.kernel_replay = params.replayMode == CUPTI_KernelReplay;
    if (params.range != CUPTI_AutoRange && params.range != CUPTI_UserRange)
        return call.wrong_value("there is no range mode " + std::to_string(params.range),
                                "CUPTI_AutoRange or CUPTI_UserRange");
    if (params.replayMode == CUPTI_ApplicationReplay)
        return call.refused(CUPTI_ERROR_NOT_SUPPORTED, "application replay is not emulated",
                            "kernel or user replay");
    if (params.replayMode != CUPTI_KernelReplay && params.replayMode != CUPTI_UserReplay)
        return call.wrong_value("there is no replay mode " + std::to_string(params.replayMode),
                                "CUPTI_KernelReplay or CUPTI_UserReplay");
    if (config.user_range && config.kernel_replay)
        return call.wrong_order("user range with kernel replay: kernel replay exists only with auto range",
                                "user replay with user range");
    config.levels = params.numNestingLevels;
    config.first_level = params.minNestingLevel;
    if (config.levels < 1 || config.first_level < 1 ||
        (!config.user_range && (config.levels != 1 || config.first_level != 1)))
        return call.wrong_value("numNestingLevels and minNestingLevel count from 1, and are 1 in auto range",
                                "set both to 1");
    if (params.passIndex != 0 ||
        (params.targetNestingLevel != 0 && params.targetNestingLevel != params.minNestingLevel))
        return call.wrong_value(
            "passIndex and targetNestingLevel go on from an earlier run of the program, "
            "which is application replay",
            "0, and minNestingLevel or 0");
    const size_t most = number_of("ATTNSCOPE_VGPU_MAX_RANGES", 2000);
    if (params.maxRangesPerPass == 0) return call.wrong_value("maxRangesPerPass is 0", "at least one range");
    if (params.maxRangesPerPass > most)
        return call.wrong_order(
            "maxRangesPerPass is " + std::to_string(params.maxRangesPerPass) + "; more than " +
                std::to_string(most) + " were refused by real libraries",
            "fewer ranges, decoded more often (ATTNSCOPE_VGPU_MAX_RANGES changes the limit)");
    config.ranges_per_pass = params.maxRangesPerPass;

    CounterImage image;
    if (!readable(params.pCounterDataImage, params.counterDataImageSize) ||
        image.read(params.pCounterDataImage, params.counterDataImageSize) != ImageState::good)
        return call.wrong_value("the counter data image is not initialised",
                                "cuptiRangeProfilerCounterDataImageInitialize first");
    if (image.max_ranges() > most)
        return call.wrong_order("the counter data image is for more than " + std::to_string(most) + " ranges",
                                "fewer ranges, decoded more often");
    config.image = params.pCounterDataImage;
    config.image_size = params.counterDataImageSize;

    const std::string wrong = readable(params.pConfig, params.configSize)
                                  ? wrong_config_image(params.pConfig, params.configSize, chip)
                                  : "the config image is not there";
    if (!wrong.empty())
        return call.wrong_value(wrong, "an image of cuptiProfilerHostGetConfigImage for chip " + chip);
    // Under kernel replay each launch runs all passes by itself.
    config.passes = config.kernel_replay ? 1 : passes_of_config(params.pConfig, params.configSize);
    config.set = true;
    return CUPTI_SUCCESS;
}

/// Writes what was collected into the client's image.
void decode(RangeProfiler& profiler, CounterImage& image, bool complete) {
    for (const Range& range : profiler.collected) {
        std::vector<double> values;
        const std::string path = joined(range.path, "/");
        for (const std::string& metric : image.metrics())
            values.push_back(!complete                    ? std::numeric_limits<double>::quiet_NaN()
                             : profiler.config.user_range ? fixture_range(path, metric)
                                                          : fixture_kernel(range.kernel, metric));
        if (!image.add(range.path, values)) ++profiler.dropped;
    }
    profiler.collected.clear();
}

}  // namespace

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (const CUptiResult error = check(params, CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, __func__))
        return answer(error);
    if (!profiler_initialised())
        return answer(refuse_crash(CUPTI_ERROR_NOT_INITIALIZED, __func__, "the profiler is not initialised",
                                   "call cuptiProfilerInitialize first"));
    if (!params->ctx)
        return answer(refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, __func__, "the context is NULL",
                                   "pass the context whose kernels are measured"));
    if (const CUptiResult error = no_counters(__func__)) return answer(error);
    const CUptiResult result = enable_ranges(params->ctx, params->pRangeProfilerObject);
    if (result == CUPTI_ERROR_INVALID_OPERATION)
        refuse(result, __func__, "range profiling is enabled on this context already", "disable it first");
    if (result == CUPTI_ERROR_HARDWARE_BUSY)
        refuse(result, __func__, "range profiling is enabled on another context of this device",
               "one context of a device at a time: disable the other first");
    return answer(result);
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
    {
        ATTNSCOPE_RANGE_CALL(call, Disable_Params);
        if (call->started)
            refuse(CUPTI_SUCCESS, __func__, "a session is started; its ranges are lost", "stop it first");
    }
    disable_ranges(params->pRangeProfilerObject);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
    ATTNSCOPE_RANGE_CALL(call, GetCounterDataSize_Params);
    if (!params->pMetricNames || params->numMetrics == 0 || params->maxNumOfRanges == 0)
        return answer(call.wrong_value("no metrics or no ranges", "at least one of each"));
    if (params->maxNumRangeTreeNodes < params->maxNumOfRanges)
        return answer(call.wrong_value("maxNumRangeTreeNodes is less than maxNumOfRanges",
                                       "a range has at least one node"));
    ImageShape shape;
    shape.max_ranges = static_cast<uint32_t>(params->maxNumOfRanges);
    shape.max_nodes = params->maxNumRangeTreeNodes;
    for (size_t i = 0; i < params->numMetrics; ++i) {
        if (!params->pMetricNames[i] || !*params->pMetricNames[i])
            return answer(call.wrong_value("a metric without a name", "the names of the config image"));
        shape.metrics.emplace_back(params->pMetricNames[i]);
    }
    params->counterDataSize = image_bytes(shape);
    call->shapes[params->counterDataSize] = std::move(shape);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
    ATTNSCOPE_RANGE_CALL(call, CounterDataImage_Initialize_Params);
    if (call->started && params->pCounterData == call->config.image)
        return answer(call.wrong_order("the image is in use by a session", "stop it first"));
    const auto shape = call->shapes.find(params->counterDataSize);
    if (!params->pCounterData || shape == call->shapes.end())
        return answer(
            call.wrong_value("no image, or not of a size that cuptiRangeProfilerGetCounterDataSize "
                             "answered for this object",
                             "allocate what it answers"));
    if (!readable(params->pCounterData, params->counterDataSize))
        return answer(refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, __func__, "the image's memory is not there",
                                   "allocate what cuptiRangeProfilerGetCounterDataSize answers"));
    initialise_image(params->pCounterData, shape->second);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
    ATTNSCOPE_RANGE_CALL(call, SetConfig_Params);
    if (call->started) return answer(call.wrong_order("a session is started", "stop it first"));
    RangeConfig config;
    if (const CUptiResult error = read_config(call, *params, call->chip, config)) return answer(error);
    call->config = config;
    call->submitted = 0;
    call->collected.clear();
    call->dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
    {
        ATTNSCOPE_RANGE_CALL(call, Start_Params);
        if (!call->config.set)
            return answer(call.wrong_order("there is no configuration", "cuptiRangeProfilerSetConfig first"));
        if (call->started) return answer(call.wrong_order("a session is started already", "stop it first"));
        call->begin_session();
    }
    refresh_hooks();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
    {
        ATTNSCOPE_RANGE_CALL(call, Stop_Params);
        if (!call->started) return answer(call.wrong_order("no session is started", "start one first"));
        if (!call->open.empty())
            return answer(call.wrong_order(std::to_string(call->open.size()) + " ranges are still pushed",
                                           "pop them first"));
        params->isAllPassSubmitted = call->end_session();
        const size_t next = params->isAllPassSubmitted ? 0 : call->submitted;
        params->passIndex = next % call->config.passes;
        params->targetNestingLevel = call->config.first_level + next / call->config.passes;
    }
    refresh_hooks();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
    ATTNSCOPE_RANGE_CALL(call, PushRange_Params);
    if (!params->pRangeName) return answer(call.wrong_value("the range has no name", "give it one"));
    if (!call->started || !call->config.user_range)
        return answer(call.wrong_order("there is no session with user ranges",
                                       "SetConfig with CUPTI_UserRange and Start first"));
    if (std::strlen(params->pRangeName) > longest_range_name)
        return answer(call.wrong_value("the name is longer than " + std::to_string(longest_range_name) +
                                           " bytes, which the stand-in's image cannot hold",
                                       "a shorter name"));
    call->push(params->pRangeName);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
    ATTNSCOPE_RANGE_CALL(call, PopRange_Params);
    if (!call->started || call->open.empty())
        return answer(call.wrong_order("no range is pushed", "as many pops as pushes"));
    call->open.pop_back();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
    ATTNSCOPE_RANGE_CALL(call, DecodeData_Params);
    const RangeConfig& config = call->config;
    if (!config.set) return answer(call.wrong_order("there is no configuration", "SetConfig first"));
    if (call->started && number_of("ATTNSCOPE_VGPU_DECODE_WHILE_STARTED", 0) == 0)
        return answer(call.wrong_order("a session is started: the header wants Stop first",
                                       "stop it first (ATTNSCOPE_VGPU_DECODE_WHILE_STARTED=1 allows it)"));
    if (!readable(config.image, config.image_size))
        return answer(refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, __func__,
                                   "the image that SetConfig was given is no longer there",
                                   "keep it where it was until the profiler is disabled"));
    CounterImage image;
    if (image.read(config.image, config.image_size) != ImageState::good)
        return answer(refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, __func__,
                                   "the image that SetConfig was given is not initialised or was overwritten",
                                   "keep it as it was, or initialise it again"));
    decode(*call.operator->(), image, call->submitted == config.passes * config.levels);
    image.write(config.image);
    if (fault_happens(Fault::undecodable)) damage_image(config.image);
    params->numOfRangeDropped = call->dropped;
    call->dropped = 0;
    return CUPTI_SUCCESS;
}
