#pragma once
// Formulas over vendor names: "100 * lts__t_sectors_lookup_hit.sum / lts__t_sectors.sum". Names, numbers,
// + - * / and parentheses.
#include <optional>
#include <string>
#include <string_view>

#include "attnscope/metrics.h"

namespace attnscope::metrics {

/// Throws Error with what is wrong and where.
void check_formula(std::string_view formula);

/// nullopt: a name has no value, or the result is not finite.
std::optional<MetricResult> evaluate_formula(std::string_view formula, const MetricLookup& lookup);

}  // namespace attnscope::metrics
