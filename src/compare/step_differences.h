#pragma once
// What two launches of the same thing differ in.
#include "attnscope/compare.h"

namespace attnscope::comparing {

/// Grid, block, cluster, resources, bytes, attributes of a call, how often. Not time, and nothing that
/// follows from the GPU alone.
std::vector<Difference> step_differences(const Step& a, const Step& b);

}  // namespace attnscope::comparing
