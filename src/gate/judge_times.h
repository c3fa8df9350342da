#pragma once
#include "judge_value.h"

namespace attnscope::gate {

/// Times of all implementations that both sides have, as one family of comparisons.
void judge_times(std::vector<Verdict>& out, Limits& limits, const Policy& policy, const GateFacts& run,
                 const GateFacts& baseline);

}  // namespace attnscope::gate
