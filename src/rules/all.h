#pragma once
// One declaration a rule; the order is in table.cpp.
#include "attnscope/rules.h"

namespace attnscope::rule {

std::vector<Finding> data_loss(const Analysis&);
std::vector<Finding> collections_differ(const Analysis&);
std::vector<Finding> counters_missing(const Analysis&);
std::vector<Finding> serialised_time(const Analysis&);
std::vector<Finding> uncomputed_reads(const Analysis&);
std::vector<Finding> assumed_figures(const Analysis&);
std::vector<Finding> results_differ(const Analysis&);
std::vector<Finding> fastest(const Analysis&);
std::vector<Finding> not_decidable(const Analysis&);
std::vector<Finding> backend_refused(const Analysis&);
std::vector<Finding> unforced_choice(const Analysis&);
std::vector<Finding> one_kernel(const Analysis&);
std::vector<Finding> low_occupancy_by_design(const Analysis&);
std::vector<Finding> masked_fill_copy(const Analysis&);
std::vector<Finding> math_upcast(const Analysis&);
std::vector<Finding> math_nan_guard(const Analysis&);
std::vector<Finding> few_ctas(const Analysis&);
std::vector<Finding> library_chosen(const Analysis&);

}  // namespace attnscope::rule
