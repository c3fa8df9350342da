#pragma once
// CUPTI through pointers looked up at run time, in the copy that is already in the process where there is
// one. Nothing links it.
#include <cupti.h>

#include <functional>
#include <string>

namespace attnscope::collector {

struct CuptiApi {
    void* library = nullptr;
    std::string path;      ///< the file, as the loader names it
    uint32_t version = 0;  ///< cuptiGetVersion: 24 for 12.6 ... 28 for 12.9 U1, then 130000 for 13.0

    decltype(&cuptiGetVersion) get_version = nullptr;
    decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
    decltype(&cuptiGetResultString) get_result_string = nullptr;
    decltype(&cuptiGetCallbackName) get_callback_name = nullptr;
    decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
    decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
    decltype(&cuptiActivityEnable) enable = nullptr;
    decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_api = nullptr;
    decltype(&cuptiActivityEnableDriverApi) enable_driver_api = nullptr;
    decltype(&cuptiActivityFlushAll) flush_all = nullptr;
    decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) get_num_dropped_records = nullptr;
    decltype(&cuptiActivityPushExternalCorrelationId) push_external_correlation_id = nullptr;
    decltype(&cuptiActivityPopExternalCorrelationId) pop_external_correlation_id = nullptr;

    /// Declining a buffer crashed before CUPTI 12.9.
    bool may_decline_buffers() const { return version >= 27; }
    std::string describe(CUptiResult result) const;
};

constexpr uint32_t kOldestCupti = 24;  ///< CUDA 12.6

/// Range ids travel as external correlation ids of this kind: CUSTOM0 and CUSTOM1 are Kineto's.
constexpr CUpti_ExternalCorrelationKind kRangeKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;

/// Why collection could not start, for the run's diagnostics.
struct CuptiFailure {
    const char* code = nullptr;  ///< nullptr: none
    std::string message, remedy;
};

/// Finds CUPTI and begins with it: with the copy in the process where there is one, else with the first of
/// `hints` (colon-separated files) and the loader's own that `begin` accepts. Codes of its own:
/// "cupti-absent", "cupti-too-old".
using BeginWithCupti = std::function<CuptiFailure(CuptiApi&)>;
CuptiFailure find_cupti(CuptiApi& api, const char* hints, const BeginWithCupti& begin);

/// Finds CUPTI, then registers the callbacks and enables the kinds.
CuptiFailure start_cupti(CuptiApi& api, const char* hints, CUpti_BuffersCallbackRequestFunc request,
                         CUpti_BuffersCallbackCompleteFunc complete);

/// True for API functions whose records tell the thread and the time of a launch, a copy or a memset.
bool is_launching_function(const char* name);

}  // namespace attnscope::collector
