// cuptiRangeProfiler...: the rules of call order, sizes and values. What the header leaves open is refused,
// with a diagnostic that says why.
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/activity_switches.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/fixture.h"
#include "collectors/virtual_gpu/cupti/listener.h"
#include "collectors/virtual_gpu/cupti/memory.h"
#include "collectors/virtual_gpu/cupti/objects.h"
#include "collectors/virtual_gpu/cupti/profiler_api.h"
#include "collectors/virtual_gpu/cupti/range_call.h"
#include "collectors/virtual_gpu/cupti/range_config.h"

using namespace attnscope::vgpu::cupti;

namespace {

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

/// Others saw the two together; nobody documents it.
void warn_of_activity() {
    if (kind_enabled(CUPTI_ACTIVITY_KIND_KERNEL) || kind_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
        attnscope::vgpu::report("warning", "cupti-range-and-activity",
                                "ranges are measured while kernel activity records are on: whether the real "
                                "library allows that is not documented",
                                "one of the two at a time");
}

}  // namespace

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
    ATTNSCOPE_FAULT_POINT;
    if (const CUptiResult error =
            check_params(params, CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, __func__))
        return answer(error);
    if (!profiler_initialised())
        return answer(refuse_crash(CUPTI_ERROR_NOT_INITIALIZED, __func__, "the profiler is not initialised",
                                   "call cuptiProfilerInitialize first"));
    if (!params->ctx)
        return answer(refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, __func__, "the context is NULL",
                                   "pass the context whose kernels are measured"));
    if (const CUptiResult error = no_counters(__func__)) return answer(error);
    const auto ordinal = device_of(params->ctx);
    if (!ordinal) return answer(CUPTI_ERROR_INVALID_CONTEXT);
    if (!has_range_profiling(static_cast<int>(*ordinal)))
        return answer(refuse(CUPTI_ERROR_NOT_SUPPORTED, __func__, "this device has no range profiling",
                             "ask cuptiProfilerDeviceSupported first"));
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
            call.refused(CUPTI_SUCCESS, "a session is started; its ranges are lost", "stop it first");
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
        return answer(call.crashed("the image's memory is not there",
                                   "allocate what cuptiRangeProfilerGetCounterDataSize answers"));
    initialise_image(params->pCounterData, shape->second);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
    ATTNSCOPE_RANGE_CALL(call, SetConfig_Params);
    if (call->started) return answer(call.wrong_order("a session is started", "stop it first"));
    call.unlock();
    RangeConfig config;
    if (const CUptiResult error = read_config(call, *params, call->chip, config)) return answer(error);
    call.lock();
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
        call.unlock();
        if (capturing(call->context))
            return answer(call.wrong_order(
                "a stream of this context is being captured: the profiler's synchronising would break that",
                "measure nothing while a stream is captured; captured kernels do not run"));
        call.lock();
        call->begin_session();
    }
    warn_of_activity();
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
        return answer(call.crashed("the image that SetConfig was given is no longer there",
                                   "keep it where it was until the profiler is disabled"));
    CounterImage image;
    if (image.read(config.image, config.image_size) != ImageState::good)
        return answer(call.crashed("the image that SetConfig was given is not initialised or was overwritten",
                                   "keep it as it was, or initialise it again"));
    const bool complete = config.kernel_replay || call->submitted == config.passes * config.levels;
    decode(call.profiler(), image, complete);
    image.write(config.image);
    if (fault_happens(Fault::undecodable)) damage_image(config.image);
    params->numOfRangeDropped = call->dropped;
    call->dropped = 0;
    return CUPTI_SUCCESS;
}
