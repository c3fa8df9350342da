#pragma once
// CUPTI's range profiler inside a Kineto trace: `cuda_profiler_range` events whose arguments are metrics. The
// events' times are not the kernels'.
#include <string>
#include <vector>

#include "kineto_event.h"
#include "timeline.h"

namespace attnscope::importer {

class CountedRanges {
  public:
    void take(const Event& event, std::string name);
    size_t size() const { return ranges_.size(); }
    /// Each becomes a Range of `process`, at the time `at`.
    void add_to(Process& process, int64_t at);

  private:
    struct Counted {
        std::string name;
        CounterSet values;
    };
    Texts metrics_;
    std::vector<Counted> ranges_;
};

}  // namespace attnscope::importer
