#include <algorithm>

#include "all.h"

namespace attnscope {

const std::vector<Rule>& rules() {
    static const std::vector<Rule> table = {
        {"data-loss", "records that were lost", rule::data_loss, Applies::always, "no record was lost"},
        {"results-differ", "implementations whose results differ by more than rounding", rule::results_differ,
         Applies::measured,
         "no difference was reported, or it is within what rounding explains: 0.125 for bf16, 0.016 for "
         "fp16, 0.01 for fp32"},
        {"collections-differ", "a run for counters and a run for time that launched different kernels",
         rule::collections_differ, Applies::always,
         "both runs of the program launched the same kernels, or it ran once"},
        {"uncomputed-reads", "decisions on values that a virtual GPU never computed", rule::uncomputed_reads,
         Applies::predicted, "the program read nothing back that was not computed"},
        {"fastest", "the fastest implementation, where times were measured", rule::fastest, Applies::measured,
         "fewer than two implementations have a time"},
        {"one-kernel-instead-of-many", "fused attention against its separate steps", rule::one_kernel,
         Applies::always, "no fused implementation launches less than an unfused one of the same run"},
        {"low-occupancy-by-design", "low theoretical occupancy that is the design",
         rule::low_occupancy_by_design, Applies::always,
         "the kernel with the lowest theoretical occupancy reaches 50%, is no attention kernel, or scores go "
         "through memory"},
        {"masked-fill-copy", "the copy that out-of-place masked_fill adds", rule::masked_fill_copy,
         Applies::always, "naive attention copies nothing of the score matrix's size"},
        {"math-upcast", "math attention computed in fp32", rule::math_upcast, Applies::always,
         "math did not run, the inputs are no 16-bit ones, or its products are not fp32"},
        {"math-nan-guard", "math attention's protection against fully masked rows", rule::math_nan_guard,
         Applies::always, "math did not run, or launched no kernels that look for rows of -inf"},
        {"unforced-choice", "what LibTorch chooses by itself", rule::unforced_choice, Applies::always,
         "the run does not say what LibTorch chooses and in which order"},
        {"backend-refused", "backends that LibTorch refuses", rule::backend_refused, Applies::always,
         "no implementation was refused and none failed"},
        {"few-ctas", "grids too small for the GPU", rule::few_ctas, Applies::always,
         "the grid of every flash or efficient kernel is a whole wave at least"},
        {"not-decidable", "rankings that only a measurement decides", rule::not_decidable, Applies::predicted,
         "fewer than two fused implementations ran, or their least bytes and FLOPs are not known"},
        {"library-chosen-kernels", "library calls whose kernels only a real GPU decides",
         rule::library_chosen, Applies::predicted, "no library call was recorded"},
        {"serialised-time", "runs whose only times are those under counters", rule::serialised_time,
         Applies::measured, "the program has times of its own, or no counters"},
        {"counters-missing", "kernels without counters where counters were asked for", rule::counters_missing,
         Applies::always, "no counters were asked for, or every kernel has them"},
        {"assumed-figures", "device figures without a source that the program asked for",
         rule::assumed_figures, Applies::predicted, "the program asked for no figure that has no source"},
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
