#pragma once
// What every call of the Range Profiler checks before it does anything.
#include <cupti_range_profiler.h>

#include <memory>
#include <mutex>
#include <string>

#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/range_profiler.h"
#include "collectors/virtual_gpu/cupti/result.h"
#include "collectors/virtual_gpu/cupti/strict.h"

namespace attnscope::vgpu::cupti {

template <class Params>
CUptiResult check_params(const Params* params, size_t struct_size, const char* function) {
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
        error_ = check_params(params, struct_size, function);
        if (!error_) find(params->pRangeProfilerObject);
    }
    ~Call() {
        if (entered_) profiler_->entered.clear();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    CUptiResult error() const { return error_; }
    RangeProfiler* operator->() { return profiler_.get(); }
    RangeProfiler& profiler() { return *profiler_; }
    /// The kernels that other threads issue may go on; this stays the only call.
    void unlock() {
        if (lock_.owns_lock()) lock_.unlock();
    }
    void lock() { lock_.lock(); }
    /// Ends the call: an observer is told with no lock held.
    CUptiResult refused(CUptiResult result, const std::string& what, const std::string& remedy) {
        unlock();
        return refuse(result, function_, what, remedy);
    }
    CUptiResult crashed(const std::string& what, const std::string& remedy) {
        unlock();
        return refuse_crash(CUPTI_ERROR_INVALID_PARAMETER, function_, what, remedy);
    }
    CUptiResult wrong_order(const std::string& what, const std::string& remedy) {
        return refused(CUPTI_ERROR_INVALID_OPERATION, what, remedy);
    }
    CUptiResult wrong_value(const std::string& what, const std::string& remedy) {
        return refused(CUPTI_ERROR_INVALID_PARAMETER, what, remedy);
    }

  private:
    void find(RangeHandle handle);

    const char* function_;
    CUptiResult error_ = CUPTI_SUCCESS;
    std::shared_ptr<RangeProfiler> profiler_;
    bool entered_ = false;
    std::unique_lock<std::mutex> lock_;
};

}  // namespace attnscope::vgpu::cupti

/// The first lines of such a function, whose parameter is `params`.
#define ATTNSCOPE_RANGE_CALL(call, name)                                   \
    ATTNSCOPE_FAULT_POINT;                                                 \
    Call call(params, CUpti_RangeProfiler_##name##_STRUCT_SIZE, __func__); \
    if (call.error()) return answer(call.error())
