#pragma once
// A counted kernel that waits: few warps, and no pipe or memory that they keep busy.
#include "support.h"

namespace attnscope::rule::latency {

/// Warps resident, percent of what an SM holds: from here on there are many.
inline constexpr double kFewWarps = 50;
/// Tensor pipe, percent of active cycles: a kernel of matrix products below it waits for something else.
inline constexpr double kIdlePipe = 15;
/// Nsight Compute (SpeedOfLight.py) calls a kernel latency-bound where neither compute nor memory reaches it.
inline constexpr double kIdle = 60;

/// False where a number that it takes is missing: what was not counted may be what is full.
bool bound(const Analysis& analysis, const Step& step);

}  // namespace attnscope::rule::latency
