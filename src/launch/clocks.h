#pragma once
#include <memory>
#include <string>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::launch {

/// Samples the GPUs' clocks into a file (schema/README.md, clocks.jsonl) each 200 ms, after ten minutes each
/// 2 s. A sample is written where its clocks or throttle reasons differ from the last one's, and every 2 s;
/// temperature and power ride along. NVML runs in a thread of ours, and one that hangs is left behind.
class ClockSampler {
  public:
    /// `nvml` is a file or a soname; empty: nothing is sampled.
    ClockSampler(std::string file, std::string nvml);
    ~ClockSampler();
    ClockSampler(const ClockSampler&) = delete;
    ClockSampler& operator=(const ClockSampler&) = delete;

    /// Returns within a second whatever NVML does; what is missing is a diagnostic.
    std::vector<Diagnostic> stop();

  private:
    struct State;
    std::shared_ptr<State> state_;  ///< a thread that hangs keeps it
};

}  // namespace attnscope::launch
