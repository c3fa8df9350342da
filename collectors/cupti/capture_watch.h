#pragma once
// Which streams are being captured. While any is, nothing may synchronise (CUDA programming guide, stream
// capture), so no counting is started or stopped; what is launched into a capture does not run.
#include <cuda.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "driver_call.h"

namespace attnscope::collector {

class CaptureWatch {
  public:
    bool any() const { return active_.load(std::memory_order_seq_cst) != 0; }
    /// Whether a launch on this stream is captured rather than run.
    bool captures(const CallStream& stream) const;

    /// Before cuStreamBeginCapture*, so that no counting starts any more; `end_failed` when that call failed.
    void begin(CUstream stream);
    void begin_failed(CUstream stream) { forget(stream, false); }
    /// After cuStreamEndCapture.
    void end(const CallStream& stream, bool success);
    /// The stream is destroyed, and its capture with it.
    void destroyed(CUstream stream) { forget(stream, true); }

    void lock_for_fork() { mutex_.lock(); }
    void unlock_for_fork() { mutex_.unlock(); }

  private:
    void forget(CUstream stream, bool all);

    std::mutex mutex_;
    std::vector<CUstream> streams_;  ///< once for each begin that has no end yet
    std::atomic<size_t> active_{0};
};

}  // namespace attnscope::collector
