#include <algorithm>

#include "all.h"

namespace attnscope {

const std::vector<Rule>& rules() {
    static const std::vector<Rule> table = {
        {"data-loss", "records that were lost", rule::data_loss, Applies::always, "no record was lost"},
        {"results-differ", "implementations whose results differ by more than rounding", rule::results_differ,
         Applies::measured,
         "no difference was reported, or it is within what rounding explains: 0.125 for bf16, 0.016 for "
         "fp16, 0.01 for fp32; and no result has more NaN or infinities than another"},
        {"above-the-roof", "times that no GPU of this kind can reach", rule::above_roof, Applies::measured,
         "no time was measured, or useful FLOPs / time stay within the peak of the roof that applies"},
        {"collections-differ", "a run for counters and a run for time that launched different kernels",
         rule::collections_differ, Applies::always,
         "both runs of the program launched the same kernels, or it ran once"},
        {"uncomputed-reads", "decisions on values that a virtual GPU never computed", rule::uncomputed_reads,
         Applies::predicted, "the program read nothing back that was not computed"},
        {"known-wrong-results", "library versions that were published to compute this shape wrongly",
         rule::known_wrong_results, Applies::always,
         "cuDNN did not compute it, its version is not known, or nothing was published of this version, GPU "
         "and shape"},
        {"launch-failed", "launches that CUDA refused", rule::launch_failed, Applies::always,
         "no launch was seen to fail"},
        {"index-range", "index arithmetic that overflows 32 bits", rule::index_range, Applies::always,
         "the efficient backend computes it without mask and dropout, or queries x keys fit 32 bits"},
        {"launch-limit", "grids that no GPU can launch", rule::launch_limit, Applies::always,
         "batch and heads are at most 65,535, or neither flash nor cuDNN is asked"},
        {"memory-predicted", "tensors that do not fit into the device's memory", rule::memory_predicted,
         Applies::always, "the least peak memory of every implementation is within the device's memory"},
        {"no-backend", "calls that no backend takes", rule::no_backend, Applies::always,
         "LibTorch found a backend for every call"},
        {"math-fallback", "calls that fall to the math backend", rule::math_fallback, Applies::always,
         "LibTorch chose another backend than math, or math is the only one that is switched on"},
        {"fastest", "the fastest implementation, where times were measured", rule::fastest, Applies::measured,
         "fewer than two implementations have a time"},
        {"bound-excludes", "implementations that cannot be the fastest, whatever is tuned",
         rule::bound_excludes, Applies::always,
         "no time was measured or published for this GPU and shape, or no bound lies above the shortest one"},
        {"roof", "how much of its roof each implementation reaches, and which roof", rule::roof,
         Applies::measured, "no time was measured, or no bound is known for what has one"},
        {"faster-backend", "a way to compute the same that is faster than LibTorch's choice",
         rule::faster_backend, Applies::always,
         "no times were measured or published for this GPU and shape, or LibTorch's choice is within 5% or "
         "the spread of the fastest"},
        {"launch-bound", "a GPU that waits for its program", rule::launch_bound, Applies::measured,
         "no times were measured, or the GPU is idle for less than 20% of an iteration and the program takes "
         "less than 1.5 times its GPU time"},
        {"first-call", "what a first call costs, and whether it is measured along", rule::first_call,
         Applies::measured,
         "no times were measured, or the first iteration takes less than 3 times, or 1 ms more than, a later "
         "one"},
        {"low-occupancy-hurts", "low occupancy that leaves everything idle", rule::low_occupancy_hurts,
         Applies::always,
         "achieved occupancy, tensor pipe and DRAM were not all counted, half of the warps or more are "
         "resident, or something is busy: the tensor pipe 15%, anything else 60%"},
        {"one-kernel-instead-of-many", "fused attention against its separate steps", rule::one_kernel,
         Applies::always, "no fused implementation launches less than an unfused one of the same run"},
        {"low-occupancy-by-design", "low theoretical occupancy that is the design",
         rule::low_occupancy_by_design, Applies::always,
         "the kernel with the lowest theoretical occupancy reaches 50%, is no attention kernel, or scores go "
         "through memory"},
        {"more-occupancy-less-speed", "fused kernels that are slower with more warps",
         rule::more_occupancy_less_speed, Applies::always,
         "no two fused kernels have times, measured or published for this GPU and shape, of which the slower "
         "one has 1.2 times the theoretical occupancy"},
        {"redundant-dram", "DRAM traffic far above the least", rule::redundant_dram, Applies::always,
         "DRAM bytes were not counted, or are at most twice the least that its kernels read and write"},
        {"l2-bound", "kernels that wait for the L2 cache", rule::l2_bound, Applies::always,
         "the L2's use was not counted, is below 80%, or something else is busier"},
        {"exponentials-limiting", "exponentials that take as long as the matrix products", rule::exponentials,
         Applies::always,
         "no fused implementation ran, or by the GPU's peaks its exponentials take less than 80% of the time "
         "of its products"},
        {"tensor-instructions", "products that miss the architecture's Tensor Core instructions",
         rule::tensor_instructions, Applies::always,
         "the kernels' code is not known or holds wgmma or tcgen05, the GPU has neither, or the products of "
         "a 16-bit problem have tensor instructions"},
        {"register-spills", "registers that do not suffice", rule::register_spills, Applies::always,
         "the code of the kernels that take a tenth of the time is not known, or less than 0.5% of it are "
         "accesses to local memory"},
        {"shared-bytes-differ", "shared memory that does not fit the tile in the kernel's name",
         rule::shared_bytes_differ, Applies::always,
         "every flash kernel is launched with what its tile needs, or no name holds a tile"},
        {"achieved-below-theoretical", "warps that the theoretical occupancy promises and that are not there",
         rule::achieved_below_theoretical, Applies::always,
         "achieved occupancy was not counted, or reaches 80% of the theoretical one"},
        {"masked-fill-copy", "the copy that out-of-place masked_fill adds", rule::masked_fill_copy,
         Applies::always, "naive attention copies nothing of the score matrix's size"},
        {"extra-copy", "copies of q, k and v around attention", rule::extra_copy, Applies::always,
         "no copy of a tensor of the size of q, k or v was launched outside of "
         "scaled_dot_product_attention, or the launches' operations are not known"},
        {"gqa-repeat", "keys and values that are written out once for each query head", rule::gqa_repeat,
         Applies::always, "keys and values are read as they are, or the launches' operations are not known"},
        {"mask-per-head", "masks with a matrix for each head", rule::mask_per_head, Applies::always,
         "there is no mask, or heads and batch share one matrix"},
        {"mask-conversion", "masks that are converted or padded in every call", rule::mask_conversion,
         Applies::always,
         "there is no mask, a kernel reads it as it is, or the launches' operations are not known"},
        {"head-dim-padding", "head dimensions that are computed wider than they are", rule::head_dim_padding,
         Applies::always, "the kernel is made for this head_dim, or its name does not hold one"},
        {"causal-alignment", "causal masks of more keys than queries, or fewer", rule::causal_alignment,
         Applies::always, "it is not causal, or there are as many queries as keys"},
        {"score-matrix-written", "scores that go through device memory", rule::score_matrix_written,
         Applies::always, "every implementation is fused, or its bytes are not known"},
        {"math-upcast", "math attention computed in fp32", rule::math_upcast, Applies::always,
         "math did not run, the inputs are no 16-bit ones, or its products are not fp32"},
        {"math-nan-guard", "math attention's protection against fully masked rows", rule::math_nan_guard,
         Applies::always, "math did not run, or launched no kernels that look for rows of -inf"},
        {"math-scaling", "where math applies the scale", rule::math_scaling, Applies::always,
         "math did not run, or launched fewer than two kernels that scale"},
        {"unforced-choice", "what LibTorch chooses by itself", rule::unforced_choice, Applies::always,
         "the run does not say what LibTorch chooses and in which order"},
        {"backend-refused", "backends that LibTorch refuses", rule::backend_refused, Applies::always,
         "no implementation was refused and none failed"},
        {"few-ctas", "grids too small for the GPU", rule::few_ctas, Applies::always,
         "the grid of every flash or efficient kernel is a whole wave at least"},
        {"split-kv", "flash attention that splits the keys", rule::split_kv, Applies::always,
         "no kernel that merges split keys was launched"},
        {"partial-last-wave", "a last wave that fills few of the GPU's places", rule::partial_last_wave,
         Applies::always,
         "every attention kernel's grid is less than a wave (few-ctas), or fills 80% of the places over its "
         "waves"},
        {"not-decidable", "rankings that only a measurement decides", rule::not_decidable, Applies::predicted,
         "fewer than two fused implementations ran, or their least bytes and FLOPs are not known"},
        {"other-gpu", "what the bounds say of another GPU", rule::other_gpu, Applies::always,
         "the program did not mark its shape, no fused implementation ran, or this GPU's peaks are not "
         "known"},
        {"library-chosen-kernels", "library calls whose kernels only a real GPU decides",
         rule::library_chosen, Applies::predicted, "no library call was recorded"},
        {"no-gpu-work", "imported files in which nothing ran on a GPU", rule::no_gpu_work, Applies::always,
         "the file holds kernels, or the run was not imported"},
        {"occupancy-artefact", "occupancy of 0% that a trace shows for kernels with much shared memory",
         rule::occupancy_artefact, Applies::always,
         "the trace shows no such kernel, or the run was not imported from one"},
        {"replay-time", "kernel times that Nsight Compute's replay distorted", rule::replay_time,
         Applies::always, "the run was not imported from Nsight Compute"},
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
