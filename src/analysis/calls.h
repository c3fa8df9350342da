#pragma once
// Calls of scaled_dot_product_attention with LibTorch's answers, and which implementation made each.
#include <string>
#include <vector>

#include "attnscope/analysis.h"

namespace attnscope {

/// The calls of one process. An implementation is known by its launches: a call that launched nothing belongs
/// to none.
class CallFinder {
  public:
    explicit CallFinder(const Process& process);

    /// Launches of one implementation; `counted`: they are in its iterations.
    void add(const std::string& implementation, const std::vector<uint32_t>& launches, bool counted);
    /// One for each implementation and signature, by first appearance.
    std::vector<AttentionCall> take();

  private:
    const Process& process_;
    std::vector<uint32_t>
        choice_of_;  ///< by operation: index into Process::choices of the nearest call around it
    std::vector<std::vector<AttentionCall>> calls_;  ///< by choice
};

/// Why a run has no calls of scaled_dot_product_attention with LibTorch's answers: the collector's own words.
/// Only for a run that has none.
std::string why_no_calls(const Run& run);

}  // namespace attnscope
