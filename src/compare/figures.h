#pragma once
// The figures of one implementation in two runs.
#include "attnscope/compare.h"

namespace attnscope::comparing {

/// Of all kinds, in the order of the report.
std::vector<FigurePair> figures(const Implementation& a, const Implementation& b);

}  // namespace attnscope::comparing
