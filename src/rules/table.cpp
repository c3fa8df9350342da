#include <algorithm>

#include "all.h"

namespace attnscope {

const std::vector<Rule>& rules() {
    static const std::vector<Rule> table = {
        {"data-loss", "records that were lost", rule::data_loss},
        {"results-differ", "implementations whose results differ by more than rounding", rule::results_differ,
         Applies::measured},
        {"collections-differ", "a run for counters and a run for time that launched different kernels",
         rule::collections_differ},
        {"uncomputed-reads", "decisions on values that a virtual GPU never computed", rule::uncomputed_reads,
         Applies::predicted},
        {"fastest", "the fastest implementation, where times were measured", rule::fastest,
         Applies::measured},
        {"one-kernel-instead-of-many", "fused attention against its separate steps", rule::one_kernel},
        {"low-occupancy-by-design", "low theoretical occupancy that is the design",
         rule::low_occupancy_by_design},
        {"masked-fill-copy", "the copy that out-of-place masked_fill adds", rule::masked_fill_copy},
        {"math-upcast", "math attention computed in fp32", rule::math_upcast},
        {"math-nan-guard", "math attention's protection against fully masked rows", rule::math_nan_guard},
        {"unforced-choice", "what LibTorch chooses by itself", rule::unforced_choice},
        {"backend-refused", "backends that LibTorch refuses", rule::backend_refused},
        {"few-ctas", "grids too small for the GPU", rule::few_ctas},
        {"not-decidable", "rankings that only a measurement decides", rule::not_decidable,
         Applies::predicted},
        {"library-chosen-kernels", "library calls whose kernels only a real GPU decides",
         rule::library_chosen, Applies::predicted},
        {"serialised-time", "runs whose only times are those under counters", rule::serialised_time,
         Applies::measured},
        {"counters-missing", "kernels without counters where counters were asked for",
         rule::counters_missing},
        {"assumed-figures", "device figures without a source that the program asked for",
         rule::assumed_figures, Applies::predicted},
    };
    return table;
}

std::vector<Finding> find_all(const Analysis& analysis) {
    std::vector<Finding> all;
    for (const Rule& rule : rules()) {
        for (Finding& finding : rule.find(analysis)) {
            finding.id = rule.id;
            all.push_back(std::move(finding));
        }
    }
    // Problems first; within a severity the table's order is the order of importance. Praise ranks with
    // information.
    const auto rank = [](const Finding& f) {
        return f.severity == Severity::problem ? 0 : f.severity == Severity::warning ? 1 : 2;
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
    return all;
}

}  // namespace attnscope
