#pragma once
// The tables of a comparison's report.
#include "attnscope/compare.h"

namespace attnscope::comparing {

/// One line an implementation of either run.
Table implementations_table(const Comparison& comparison);
/// Inputs, GPU and libraries that differ.
Section settings_section(const Comparison& comparison);
/// The line-up, launch by launch; without `everything` only what is not the same.
Section launches_section(const Comparison& comparison, bool everything);
/// Each figure in both; without `everything` only what differs.
Section figures_section(const Comparison& comparison, bool everything);

}  // namespace attnscope::comparing
