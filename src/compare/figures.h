#pragma once
// The figures of one implementation in two runs.
#include "attnscope/compare.h"

namespace attnscope::comparing {

/// Of all kinds, in the order of the report.
std::vector<FigurePair> figures(const Implementation& a, const Implementation& b);

/// Bound / time, percent: how much of its roof an implementation reaches. Absent, with a reason, without a
/// time or a bound.
Value share_of_bound(const Implementation& implementation);

}  // namespace attnscope::comparing
