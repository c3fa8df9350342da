#pragma once
#include "attnscope/analysis.h"

namespace attnscope {

/// Everything that affects the run, worst first, alike ones joined.
std::vector<Notice> collect_notices(const Run& run, const Analysis& analysis);
std::vector<Fact> collect_environment(const Run& run, const Analysis& analysis);

}  // namespace attnscope
