#pragma once
// One value beside its baseline, or beside an absolute limit.
#include "attnscope/gate.h"
#include "limits.h"

namespace attnscope::gate {

/// A verdict with everything but its outcome and words.
Verdict verdict_about(const Where& where, const GateFacts& run);

/// The share that is taken for noise: the policy's, else the metric's.
double noise_of(const GateMetric& metric, const Tolerance& tolerance);

/// How far a number may worsen: the greater of the bound and the noise, since a bound inside the noise would
/// fail by chance. In the metric's unit.
double allowed_change(const GateMetric& metric, double before, const Tolerance& tolerance);

/// Both known.
Verdict judge_against_baseline(const Where& where, const GateFacts& run, const Measurement& before,
                               const Measurement& after, const Tolerance& tolerance);

Verdict judge_against_limit(const Where& where, const GateFacts& run, const Measurement& value,
                            const Limit& limit);

/// "sdpa_flash", "sdpa_math kernel `softmax` in aten::softmax"
std::string address(const Verdict& verdict);

}  // namespace attnscope::gate
