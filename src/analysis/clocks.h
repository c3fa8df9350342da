#pragma once
#include "attnscope/analysis.h"

namespace attnscope {

/// Of the GPUs that the run names; of all samples where it names none.
Clocks summarise_clocks(const Run& run);
/// What the environment says of them; empty without samples.
std::vector<Fact> clock_facts(const Clocks& clocks);

}  // namespace attnscope
