#pragma once
// Time between things: what the sum over kernels does not show.
#include "attnscope/analysis.h"
#include "phases.h"

namespace attnscope {

/// Fills span, first_iteration and later_iterations.
void set_intervals(Implementation& out, const Process& process, const Phase& phase, Ground ground);

}  // namespace attnscope
