#include "capture_watch.h"

#include "driver_functions.h"
#include "function_attributes.h"

namespace attnscope::collector {

bool CaptureWatch::captures(const CallStream& stream) const {
    // The legacy default stream cannot be captured, and asking of it while another is gives an error.
    if (!any() || stream.is_legacy_default()) return false;
    auto* ask = driver_functions().stream_is_capturing;
    if (ask == nullptr) return true;
    const OwnCall own;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUstream handle = stream.handle == nullptr ? CU_STREAM_PER_THREAD : stream.handle;
    return ask(handle, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void CaptureWatch::begin(CUstream stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
    active_.store(streams_.size(), std::memory_order_seq_cst);
}

void CaptureWatch::end(const CallStream& stream, bool success) {
    // A call that failed may have ended the capture all the same (it was invalid) or not (a wrong thread).
    if (success || !captures(stream)) forget(stream.handle, false);
}

void CaptureWatch::forget(CUstream stream, bool all) {
    const std::lock_guard lock(mutex_);
    for (size_t i = streams_.size(); i-- > 0;) {
        if (streams_[i] != stream) continue;
        streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
        if (!all) break;
    }
    active_.store(streams_.size(), std::memory_order_seq_cst);
}

}  // namespace attnscope::collector
