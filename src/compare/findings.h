#pragma once
// One function a kind of finding; their order is in findings.cpp. Each is empty where nothing is to be said,
// or a number that it needs is missing.
#include "attnscope/compare.h"

namespace attnscope::comparing {

std::vector<Finding> input_changed(const Comparison&);
std::vector<Finding> gpu_changed(const Comparison&);
std::vector<Finding> library_changed(const Comparison&);
std::vector<Finding> backend_changed(const Comparison&);
std::vector<Finding> kernels_changed(const Comparison&);
std::vector<Finding> bound_broken(const Comparison&);
std::vector<Finding> more_bytes_than_predicted(const Comparison&);
std::vector<Finding> less_of_the_roof(const Comparison&);

/// The command that runs A's inputs again where B ran.
std::string run_again(const Comparison& comparison, const std::string& only = {});
/// Why a difference in cost may have nothing to do with the kernels: other inputs, another GPU; empty:
/// neither.
std::vector<std::string> other_causes(const Comparison& comparison);
/// A figure of A, then of B.
void add_both(Finding& finding, const Comparison& comparison, const FigurePair& figure);
/// "batch 8 -> 1, causal yes -> no"
std::string in_words(const std::vector<Difference>& differences);

}  // namespace attnscope::comparing
