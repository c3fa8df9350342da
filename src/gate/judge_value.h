#pragma once
// One value beside its baseline, or beside an absolute limit.
#include "attnscope/gate.h"
#include "limits.h"

namespace attnscope::gate {

/// A verdict with everything but its outcome and words.
Verdict verdict_about(const Where& where, const GateFacts& run);

/// How far a number may worsen: the greater of the bound and the metric's noise, since a bound inside the
/// noise would fail by chance. In the metric's unit.
double allowed_change(const GateMetric& metric, double before, const Limit* relative);

/// Both known. `relative`: the policy's bound, nullptr: the built-in one.
Verdict judge_against_baseline(const Where& where, const GateFacts& run, const Measurement& before,
                               const Measurement& after, const Limit* relative);

Verdict judge_against_limit(const Where& where, const GateFacts& run, const Measurement& value,
                            const Limit& limit);

/// "sdpa_flash", "sdpa_math kernel `softmax` in aten::softmax"
std::string address(const Verdict& verdict);

}  // namespace attnscope::gate
