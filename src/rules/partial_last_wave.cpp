#include <algorithm>
#include <cmath>

#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own threshold: below this share of filled places the tail is worth a sentence.
constexpr double kFilled = 0.8;

Finding finding(const Analysis& a, const Implementation& i, const Step& step, double filled) {
    const double waves = *step.waves.number, whole = std::floor(waves);
    const double places = *a.sm_count * *step.ctas_per_sm.number;
    const double last = *step.ctas.number - whole * places;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::info;
    f.claim = "The last wave of " + in_a_sentence(step.name) + " is mostly empty: after " +
              words::plural(whole, "whole wave") + ", " + words::plural(last, "CTA") + " are left for " +
              words::number(places) + " places. If all CTAs took equally long, " +
              words::percent(100 * filled) + " of the places would be used.";
    f.evidence = {
        evidence("CTAs of the grid", step.ctas),
        evidence("waves", step.waves,
                 words::number(*a.sm_count) + " SMs x " + words::plural(*step.ctas_per_sm.number, "CTA")),
        evidence("places used over all waves",
                 Value::of(100 * filled, Unit::percent, {Source::model, step.waves.provenance.ground},
                           words::number(waves) + " waves / " + words::number(std::ceil(waves))),
                 "speaks below " + words::percent(100 * kFilled))};
    const Value& busy = counted(step.counters, "sm_busy");
    if (busy) f.evidence.push_back(evidence("SMs with work, average over the kernel", busy));
    f.counter_evidence = {
        "CTAs are handed out one by one as others end: where they are not equally long" +
        std::string(a.workload.causal.value_or(false) ? " (under a causal mask they are not)" : "") +
        ", there are no waves in step and the tail is another one."};
    Analysis fuller = a;
    const double batch = a.workload.batch.value_or(0);
    const double better = std::floor(batch * std::ceil(waves) / waves);
    if (better > batch) fuller.workload.batch = better;
    f.next_step =
        a.has_convention ? attention_command(fuller, i.name, "-o fuller") : collect_command(a, "", "again");
    return f;
}

}  // namespace

std::vector<Finding> partial_last_wave(const Analysis& a) {
    std::vector<Finding> out;
    if (!a.sm_count) return out;
    for (const Implementation* i : distinct(a)) {
        for (const Step& step : i->steps) {
            const bool attends = is_attention(step.role) && step.role != Role::flash_combine;
            if (!step.is_kernel() || !attends || !step.waves || !step.ctas || !step.ctas_per_sm ||
                *step.waves.number < 1)
                continue;
            const double filled = *step.waves.number / std::ceil(*step.waves.number);
            if (filled < kFilled) out.push_back(finding(a, *i, step, filled));
        }
    }
    return out;
}

}  // namespace attnscope::rule
