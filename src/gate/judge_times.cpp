#include "judge_times.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attnscope/gate_time.h"
#include "say.h"

namespace attnscope::gate {
namespace {

std::string share(double change) {
    char text[32];
    std::snprintf(text, sizeof text, "%+.1f %%", 100 * change);
    return text;
}

double median(std::vector<double> values) {
    return Measurement{"time", std::move(values), {}, {}}.number();
}

/// Why the GPU's clocks forbid a verdict; empty: they do not.
std::string clock_trouble(const GateFacts& run, const GateFacts& baseline, double matters) {
    if (!run.throttled.empty()) return "the GPU slowed itself down: " + run.throttled.front();
    if (run.sm_clock.empty() || baseline.sm_clock.empty()) return {};
    const double now = median(run.sm_clock), then = median(baseline.sm_clock);
    if (std::fabs(now - then) <= matters * then) return {};
    char text[96];
    std::snprintf(text, sizeof text, "the SM clock was %.0f MHz in the baseline and is %.0f MHz", then, now);
    return text;
}

}  // namespace

void judge_times(std::vector<Verdict>& out, Limits& limits, const Policy& policy, const GateFacts& run,
                 const GateFacts& baseline) {
    const GateMetric* metric = find_gate_metric("time");
    struct Pair {
        const Subject* subject;
        const Measurement *before, *after;
        double matters;
        const Limit* limit;
    };
    std::vector<Pair> pairs;
    for (const Subject& s : run.subjects) {
        const Subject* other = baseline.find(s.name);
        const Measurement *after = s.find("time"), *before = other ? other->find("time") : nullptr;
        if (!before || !after || !before->known() || !after->known()) continue;
        const Where where{&s, nullptr, metric};
        if (limits.ignored(where)) continue;
        const Limit* limit = limits.relative(where);
        double matters = policy.time_matters;
        if (limit) {
            limits.use(limit);
            matters = limit->may_worsen->relative ? limit->may_worsen->amount
                                                  : limit->may_worsen->amount / before->number();
        }
        pairs.push_back({&s, before, after, std::min(matters, 0.99), limit});
    }
    for (const Pair& p : pairs) {
        Verdict v = verdict_about({p.subject, nullptr, metric}, run);
        v.before = *p.before;
        v.after = *p.after;
        v.line = p.limit ? p.limit->line : 0;
        v.limit = "slower by no more than " + share(p.matters).substr(1) + ", at most " +
                  share(policy.false_alarms).substr(1) + " false alarms over " +
                  std::to_string(pairs.size()) + (pairs.size() == 1 ? " time" : " times");
        v.bound = "+" + say_short(100 * p.matters, Unit::percent);
        const TimeComparison c =
            compare_times(p.before->samples, p.after->samples, p.matters, policy.false_alarms, pairs.size());
        v.outcome = c.outcome == TimeOutcome::worse    ? Outcome::worse
                    : c.outcome == TimeOutcome::better ? Outcome::better
                    : c.outcome == TimeOutcome::same   ? Outcome::same
                                                       : Outcome::ambiguous;
        v.sentence = p.subject->name + ": time " + say(*p.before) + " -> " + say(*p.after);
        if (c.change) v.change = share(*c.change);
        if (c.change) v.sentence += " (" + v.change + ")";
        if (c.low) v.sentence += ", between " + share(*c.low) + " and " + share(*c.high);
        const std::string runs = std::to_string(p.before->samples.size()) + " and " +
                                 std::to_string(p.after->samples.size()) + " runs";
        if (v.outcome == Outcome::ambiguous && !c.low)
            v.sentence +=
                "; not told apart by " + runs + ": " + std::to_string(c.runs_needed) + " a side are needed";
        else if (v.outcome == Outcome::ambiguous)
            v.sentence += "; not told apart by " + runs;
        if (const std::string why = clock_trouble(run, baseline, p.matters);
            !why.empty() && v.outcome != Outcome::ambiguous) {
            v.outcome = Outcome::ambiguous;
            v.sentence += "; no verdict: " + why;
        }
        out.push_back(std::move(v));
    }
}

}  // namespace attnscope::gate
