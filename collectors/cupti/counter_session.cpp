#include "counter_session.h"

#include <algorithm>
#include <bit>

namespace attnscope::collector {

CuptiFailure CounterSession::enable(std::shared_ptr<const CounterConfig> config) {
    config_ = std::move(config);
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_Enable_Params, params);
    params.ctx = context_;
    const CUptiResult result = api_.enable(&params);
    if (result != CUPTI_SUCCESS) return failed("cuptiRangeProfilerEnable", result);
    if (params.pRangeProfilerObject == nullptr)
        return failed("cuptiRangeProfilerEnable, giving no object,", CUPTI_ERROR_UNKNOWN);
    object_ = params.pRangeProfilerObject;
    small_ = large_ = {};
    set_ = nullptr;
    return {};
}

CuptiFailure CounterSession::disable() {
    if (object_ == nullptr) return {};
    CuptiFailure failure = started_ ? end() : CuptiFailure{};
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_Disable_Params, params);
    params.pRangeProfilerObject = object_;
    const CUptiResult result = api_.disable(&params);
    object_ = nullptr;
    if (failure.code == nullptr && result != CUPTI_SUCCESS)
        failure = failed("cuptiRangeProfilerDisable", result);
    return failure;
}

CuptiFailure CounterSession::allocate(Image& image, size_t ranges) {
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = const_cast<const char**>(config_->metrics.data());
    size.numMetrics = config_->metrics.size();
    size.maxNumOfRanges = ranges;
    size.maxNumRangeTreeNodes = static_cast<uint32_t>(ranges);
    const CUptiResult result = api_.get_data_size(&size);
    if (result != CUPTI_SUCCESS) return failed("cuptiRangeProfilerGetCounterDataSize", result);
    if (set_ == &image) set_ = nullptr;  // its memory moves
    image.bytes.assign(size.counterDataSize, 0);
    image.capacity = ranges;
    return {};
}

CuptiFailure CounterSession::initialize(Image& image) {
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, params);
    params.pRangeProfilerObject = object_;
    params.counterDataSize = image.bytes.size();
    params.pCounterData = image.bytes.data();
    const CUptiResult result = api_.initialize_data(&params);
    return result == CUPTI_SUCCESS ? CuptiFailure{}
                                   : failed("cuptiRangeProfilerCounterDataImageInitialize", result);
}

CuptiFailure CounterSession::set_config(Image& image) {
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_SetConfig_Params, params);
    params.pRangeProfilerObject = object_;
    params.configSize = config_->image.size();
    params.pConfig = config_->image.data();
    params.counterDataImageSize = image.bytes.size();
    params.pCounterDataImage = image.bytes.data();
    params.range = range_ == Range::automatic ? CUPTI_AutoRange : CUPTI_UserRange;
    params.replayMode = range_ == Range::automatic ? CUPTI_KernelReplay : CUPTI_UserReplay;
    params.maxRangesPerPass = image.capacity;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = 1;
    const CUptiResult result = api_.set_config(&params);
    if (result != CUPTI_SUCCESS) return failed("cuptiRangeProfilerSetConfig", result);
    set_ = &image;
    return {};
}

CuptiFailure CounterSession::start(size_t ranges, const char* name) {
    if (started_) {  // what was counted last could not be ended then
        Counted given_up;
        if (CuptiFailure failure = stop(given_up); failure.code != nullptr) return failure;
    }
    const size_t room = std::min(std::max(kRanges, std::bit_ceil(ranges + 1)), kMostRanges);
    Image& image = room == kRanges ? small_ : large_;
    if (image.capacity < room)
        if (CuptiFailure failure = allocate(image, room); failure.code != nullptr) return failure;
    if (CuptiFailure failure = initialize(image); failure.code != nullptr) return failure;
    if (set_ != &image)
        if (CuptiFailure failure = set_config(image); failure.code != nullptr) return failure;
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_Start_Params, params);
    params.pRangeProfilerObject = object_;
    CUptiResult result = api_.start(&params);
    if (result != CUPTI_SUCCESS) return failed("cuptiRangeProfilerStart", result);
    started_ = true;
    if (range_ == Range::automatic) return {};
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = object_;
    push.pRangeName = name;
    result = api_.push_range(&push);
    return result == CUPTI_SUCCESS ? CuptiFailure{} : failed("cuptiRangeProfilerPushRange", result);
}

CuptiFailure CounterSession::end() {
    CUptiResult popped = CUPTI_SUCCESS;
    if (range_ == Range::user) {
        ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
        pop.pRangeProfilerObject = object_;
        popped = api_.pop_range(&pop);
    }
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_Stop_Params, params);
    params.pRangeProfilerObject = object_;
    const CUptiResult result = api_.stop(&params);
    started_ = false;
    if (popped != CUPTI_SUCCESS) return failed("cuptiRangeProfilerPopRange", popped);
    if (result != CUPTI_SUCCESS) return failed("cuptiRangeProfilerStop", result);
    if (params.isAllPassSubmitted == 0)
        return {"counters-failed", "not all passes were submitted when the counted work had ended",
                "ask for fewer metrics: attnscope metrics --passes-for says how many passes a list needs"};
    return {};
}

CuptiFailure CounterSession::stop(Counted& counted) {
    if (CuptiFailure failure = end(); failure.code != nullptr) return failure;
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = object_;
    CUptiResult result = api_.decode(&decode);
    if (result != CUPTI_SUCCESS) return failed("cuptiRangeProfilerDecodeData", result);
    counted.dropped = decode.numOfRangeDropped;
    ATTNSCOPE_PROFILER_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = set_->bytes.data();
    info.counterDataImageSize = set_->bytes.size();
    result = api_.get_data_info(&info);
    if (result != CUPTI_SUCCESS) {
        CuptiFailure failure = failed("cuptiRangeProfilerGetCounterDataInfo", result);
        return {"counters-undecodable", "the decoded counter data cannot be read: " + failure.message,
                failure.remedy};
    }
    counted.ranges = info.numTotalRanges;
    return {};
}

}  // namespace attnscope::collector
