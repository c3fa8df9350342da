#include <algorithm>
#include <cmath>

#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own threshold: ends and starts of CTAs alone cost some percent.
constexpr double kFullShare = 0.8;
/// The grid explains it when it allows no more than this much above what was achieved.
constexpr double kNear = 1.1;

/// What the grid alone allows, percent: with less than a wave, CTAs are spread over the SMs and those that
/// have any hold fewer than fit. Achieved occupancy leaves SMs without a CTA out.
Value grid_allows(const Step& step, double sms) {
    const double ctas = *step.ctas.number, fit = *step.ctas_per_sm.number;
    const double each = std::min(fit, ctas / std::min(ctas, sms));
    return Value::of(*step.occupancy.number * each / fit, Unit::percent,
                     {Source::computed, step.occupancy.provenance.ground},
                     words::number(each) + " CTAs on an SM that has any, of " + words::number(fit) +
                         " that fit, x " + words::percent(*step.occupancy.number));
}

Finding finding(const Analysis& a, const Implementation& i, const Step& step, const Value& achieved) {
    const double theoretical = *step.occupancy.number;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::info;
    f.claim = "Of the " + words::percent(theoretical) + " theoretical occupancy, " + kernel_words(i, step) +
              " achieves " + words::say_with_ground(achieved) + ".";
    f.evidence = {evidence("achieved occupancy", achieved,
                           "speaks below " + words::percent(100 * kFullShare) + " of the theoretical one"),
                  evidence("theoretical occupancy", step.occupancy, "limited by " + step.limiter)};
    bool by_grid = false;
    if (a.sm_count && step.ctas && step.ctas_per_sm && *step.ctas.number > 0 &&
        *step.ctas_per_sm.number > 0) {
        const Value allowed = grid_allows(step, *a.sm_count);
        by_grid = *allowed.number <= kNear * *achieved.number;
        f.evidence.push_back(evidence("occupancy that the grid allows", allowed));
        if (by_grid)
            f.claim += " The grid is why: " + words::plural(*step.ctas.number, "CTA") + " on " +
                       words::plural(*a.sm_count, "SM") + " allow " + words::percent(*allowed.number) + ".";
    }
    if (step.waves) f.evidence.push_back(evidence("waves", step.waves, "the last one may be part of one"));
    const Value& busy = counted(step.counters, "sm_busy");
    if (busy)
        f.evidence.push_back(evidence("SMs with work, average over the kernel", busy,
                                      "what is missing to 100% are empty SMs and the tail"));
    if (!by_grid) {
        f.claim += " Its CTAs are of unequal length, or too short to be replaced in time";
        std::string tiles;
        if (a.workload.causal.value_or(false) && is_attention(step.role) && step.decoded &&
            step.decoded->block_keys.value_or(0) > 0 && a.workload.key_length)
            tiles = ": under the causal mask one visits from 1 to " +
                    words::number(std::ceil(*a.workload.key_length / *step.decoded->block_keys)) +
                    " tiles of keys";
        f.claim += tiles + ".";
    }
    f.counter_evidence = {
        "Achieved occupancy is no goal of its own: where the pipe or the memory that limits the kernel is "
        "busy, more warps change nothing (" +
        in_words(uses(a, step)) + ")."};
    f.next_step =
        a.has_convention ? attention_command(a, i.name, "-o again") : collect_command(a, "", "again");
    return f;
}

}  // namespace

std::vector<Finding> achieved_below_theoretical(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        for (const Step* step : weighty_kernels(*i)) {
            const Value& achieved = counted(step->counters, counter_role::kAchievedOccupancy);
            if (step->occupancy && achieved && *achieved.number < kFullShare * *step->occupancy.number)
                out.push_back(finding(a, *i, *step, achieved));
        }
    }
    return out;
}

}  // namespace attnscope::rule
