#include "collectors/virtual_gpu/cupti/range_call.h"

#include "collectors/virtual_gpu/cupti/profiler_api.h"

namespace attnscope::vgpu::cupti {

void Call::find(RangeHandle handle) {
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

}  // namespace attnscope::vgpu::cupti
