#include <cmath>

#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> few_ctas(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        const Step* few = nullptr;
        for (const Step& step : i->steps)
            if ((step.role == Role::flash || step.role == Role::efficient) && step.waves &&
                *step.waves.number < 1 && (!few || *step.waves.number < *few->waves.number))
                few = &step;
        if (!few || !few->ctas || !a.sm_count) continue;
        const double ctas = *few->ctas.number, sms = *a.sm_count;
        const double idle = std::max(0.0, sms - ctas);
        Finding f;
        f.subject = i->title;
        f.severity = Severity::warning;
        f.claim =
            i->title + " launches " + words::plural(ctas, "CTA") + " of " + few->name +
            ": less than one wave of " + words::number(sms) + " SMs x " +
            words::plural(*few->ctas_per_sm.number, "CTA") +
            (idle > 0 ? ". At least " + words::plural(idle, "SM") + " stand idle whatever the kernel does."
                      : ". Every SM has work, but not all that fits on it.");
        f.evidence = {evidence("CTAs of the grid", few->ctas, words::number(sms) + " SMs"),
                      evidence("waves", few->waves, "1: every SM is full once")};
        if (idle > 0)
            f.evidence.push_back(
                evidence("SMs without a CTA",
                         exact(idle, Unit::count, a, words::number(sms) + " - " + words::number(ctas))));
        f.counter_evidence = {
            "Small grids are in the nature of a small batch: other streams can use the idle SMs.",
            count(*i, Role::flash_combine) > 0
                ? "The keys are split already (flash split-KV): without it there would be fewer CTAs still."
                : "Splitting the keys (flash split-KV) gives more CTAs, and costs a second kernel; LibTorch "
                  "does "
                  "it by itself where it expects a gain."};
        f.next_step = [&] {
            Analysis larger = a;
            if (larger.workload.batch)
                larger.workload.batch = *larger.workload.batch * std::ceil(1 / *few->waves.number);
            return a.has_convention ? attention_command(larger, i->name, "-o full")
                                    : collect_command(a, a.predicted() ? "" : "real", "full");
        }();
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
