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
std::vector<Finding> bound_excludes(const Analysis&);
std::vector<Finding> roof(const Analysis&);
std::vector<Finding> not_decidable(const Analysis&);
std::vector<Finding> backend_refused(const Analysis&);
std::vector<Finding> unforced_choice(const Analysis&);
std::vector<Finding> one_kernel(const Analysis&);
std::vector<Finding> low_occupancy_by_design(const Analysis&);
std::vector<Finding> masked_fill_copy(const Analysis&);
std::vector<Finding> math_upcast(const Analysis&);
std::vector<Finding> math_nan_guard(const Analysis&);
std::vector<Finding> math_scaling(const Analysis&);
std::vector<Finding> few_ctas(const Analysis&);
std::vector<Finding> library_chosen(const Analysis&);
std::vector<Finding> extra_copy(const Analysis&);
std::vector<Finding> head_dim_padding(const Analysis&);
std::vector<Finding> mask_conversion(const Analysis&);
std::vector<Finding> mask_per_head(const Analysis&);
std::vector<Finding> score_matrix_written(const Analysis&);
std::vector<Finding> math_fallback(const Analysis&);
std::vector<Finding> no_backend(const Analysis&);
std::vector<Finding> gqa_repeat(const Analysis&);
std::vector<Finding> causal_alignment(const Analysis&);
std::vector<Finding> launch_limit(const Analysis&);
std::vector<Finding> launch_failed(const Analysis&);
std::vector<Finding> index_range(const Analysis&);
std::vector<Finding> memory_predicted(const Analysis&);
std::vector<Finding> known_wrong_results(const Analysis&);
std::vector<Finding> low_occupancy_hurts(const Analysis&);
std::vector<Finding> more_occupancy_less_speed(const Analysis&);
std::vector<Finding> achieved_below_theoretical(const Analysis&);
std::vector<Finding> partial_last_wave(const Analysis&);
std::vector<Finding> split_kv(const Analysis&);
std::vector<Finding> redundant_dram(const Analysis&);
std::vector<Finding> l2_bound(const Analysis&);
std::vector<Finding> exponentials(const Analysis&);
std::vector<Finding> register_spills(const Analysis&);
std::vector<Finding> tensor_instructions(const Analysis&);
std::vector<Finding> shared_bytes_differ(const Analysis&);
std::vector<Finding> launch_bound(const Analysis&);
std::vector<Finding> first_call(const Analysis&);
std::vector<Finding> above_roof(const Analysis&);
std::vector<Finding> faster_backend(const Analysis&);
std::vector<Finding> other_gpu(const Analysis&);
std::vector<Finding> no_gpu_work(const Analysis&);
std::vector<Finding> occupancy_artefact(const Analysis&);
std::vector<Finding> replay_time(const Analysis&);

}  // namespace attnscope::rule
