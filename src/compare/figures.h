#pragma once
// Figures of two runs, with what noise allows to say of them.
#include "attnscope/compare.h"

namespace attnscope::comparing {

/// Of an implementation: of all kinds, in the order of the report.
std::vector<FigurePair> figures(const Implementation& a, const Implementation& b);

/// Counted, read or computed: the same program gives the same.
FigurePair exact(const char* id, const char* title, const Value& a, const Value& b);
/// Medians closer than both interquartile ranges together are not told apart.
FigurePair measured(const char* id, const char* title, const Value& a, const Value& spread_a, const Value& b,
                    const Value& spread_b);
/// A role of the metric catalogue, with its spread.
FigurePair counter(const char* id, const char* title, const char* role, const std::vector<Measured>& a,
                   const std::vector<Measured>& b);

}  // namespace attnscope::comparing
