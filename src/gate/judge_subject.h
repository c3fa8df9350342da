#pragma once
// One implementation beside its baseline: its own values, then kernel by kernel.
#include "judge_value.h"

namespace attnscope::gate {

/// Adds its exact and counter verdicts. Times are judged together (judge_times.h): how sure one must be
/// depends on how many there are.
void judge_subject(std::vector<Verdict>& out, Limits& limits, const Policy& policy, const GateFacts& run,
                   const Subject& before, const Subject& after);

/// On what the baseline does not hold, as the policy says; `report` gives "same".
Outcome outcome_of(OnDifference choice);

}  // namespace attnscope::gate
