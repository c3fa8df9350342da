#pragma once
#include "attnscope/gate.h"

namespace attnscope::gate {

/// Gives each failed verdict its likely cause (a finding that the baseline did not have, else LibTorch's own
/// words), and the command that shows it; and the result the command that makes this run the baseline.
void explain(GateResult& result, const GateFacts& run, const Baseline* baseline);

}  // namespace attnscope::gate
