#pragma once
#include "attnscope/analysis.h"

namespace attnscope {

/// What theoretical occupancy needs and the record of the GPU lacks: "max_threads_per_sm". Empty: nothing, or
/// no kernel ran on a GPU that the run names.
std::string missing_limits(const Analysis& analysis);
/// Everything that affects the run, worst first, alike ones joined.
std::vector<Notice> collect_notices(const Run& run, const Analysis& analysis);
std::vector<Fact> collect_environment(const Run& run, const Analysis& analysis);

}  // namespace attnscope
