#pragma once
// The functions of the loaded libcupti that a counters collection calls: callbacks and the Range Profiler.
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "cupti_api.h"

namespace attnscope::collector {

struct CallbackApi {
    decltype(&cuptiSubscribe) subscribe = nullptr;
    decltype(&cuptiSubscribe_v2) subscribe_v2 = nullptr;  ///< nullptr before 13.0
    decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
    decltype(&cuptiEnableCallback) enable_callback = nullptr;
    decltype(&cuptiGetDeviceId) get_device_id = nullptr;
    decltype(&cuptiGetContextId) get_context_id = nullptr;
    decltype(&cuptiGetStreamIdEx) get_stream_id = nullptr;
};

struct RangeProfilerApi {
    decltype(&cuptiProfilerInitialize) initialize = nullptr;
    decltype(&cuptiProfilerDeviceSupported) device_supported = nullptr;
    decltype(&cuptiDeviceGetChipName) get_chip_name = nullptr;
    decltype(&cuptiProfilerGetCounterAvailability) get_availability = nullptr;
    decltype(&cuptiRangeProfilerEnable) enable = nullptr;
    decltype(&cuptiRangeProfilerDisable) disable = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataSize) get_data_size = nullptr;
    decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_data = nullptr;
    decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
    decltype(&cuptiRangeProfilerStart) start = nullptr;
    decltype(&cuptiRangeProfilerStop) stop = nullptr;
    decltype(&cuptiRangeProfilerPushRange) push_range = nullptr;
    decltype(&cuptiRangeProfilerPopRange) pop_range = nullptr;
    decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataInfo) get_data_info = nullptr;
};

/// The first function that the library lacks; nullptr when it has them all.
const char* look_up_callbacks(void* library, CallbackApi& api);
const char* look_up_range_profiler(void* library, RangeProfilerApi& api);

/// A parameter structure of the profiler's calls with its size filled in: the macro's, not sizeof
/// (cupti_range_profiler.h).
#define ATTNSCOPE_PROFILER_PARAMS(type, name) \
    type name{};                              \
    name.structSize = type##_STRUCT_SIZE

/// What an error of one of these calls means to the user; `call` is the function's name.
CuptiFailure counters_failure(const CuptiApi& cupti, const char* call, CUptiResult result);

}  // namespace attnscope::collector
