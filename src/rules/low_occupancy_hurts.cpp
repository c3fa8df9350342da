#include "all.h"
#include "latency_bound.h"

namespace attnscope::rule {
namespace {

/// The stall that costs most per instruction, where stalls were counted.
const Measured* worst_stall(const Step& step) {
    const Measured* worst = nullptr;
    for (const Measured& m : step.counters)
        if (m.role.starts_with("stall_") && m.value && (!worst || *m.value.number > *worst->value.number))
            worst = &m;
    return worst;
}

Finding finding(const Analysis& a, const Implementation& i, const Step& step, const std::vector<Use>& used) {
    const Value& achieved = counted(step.counters, counter_role::kAchievedOccupancy);
    const std::string kernel = kernel_words(i, step);
    Finding f;
    f.subject = i.title;
    f.severity = Severity::warning;
    f.claim = "Low occupancy hurts " + kernel + ": " + words::say_with_ground(achieved) +
              " of an SM's warps are resident, and nothing is busy (" + in_words(used) +
              "). It waits for latencies that more warps would cover.";
    f.evidence = {
        evidence("achieved occupancy", achieved, "low: below " + words::percent(latency::kFewWarps))};
    for (const Use& use : used)
        f.evidence.push_back(evidence(use.name + " busy", use.value,
                                      use.name == "tensor pipe"
                                          ? "idle: below " + words::percent(latency::kIdlePipe)
                                          : "idle: below " + words::percent(latency::kIdle) +
                                                ", as Nsight Compute's Speed Of Light rule"));
    if (step.occupancy)
        f.evidence.push_back(evidence("theoretical occupancy", step.occupancy, "limited by " + step.limiter));
    if (step.waves) f.evidence.push_back(evidence("waves", step.waves, "1: every SM is full once"));
    if (const Measured* stall = worst_stall(step))
        f.evidence.push_back(
            evidence("longest stall: " + stall->role.substr(6), stall->value, "cycles per instruction"));
    f.counter_evidence.push_back(
        step.waves.number.value_or(1) < 1
            ? "The grid is less than one wave: more work in parallel, not a smaller CTA, would fill the SMs."
            : "More warps are not free: smaller tiles read their operands more often, fewer registers "
              "spill.");
    if (!counted(step.counters, "issue_slots"))
        f.counter_evidence.push_back(
            "Issue slots, L2 and the other pipes were not all counted: one of them could be what is full "
            "(--counters core,stalls,memory,instructions).");
    const char* sets = "--counters core,stalls --replay kernel -o stalls";
    Analysis again = a;
    again.counters_request.clear();
    f.next_step = a.has_convention
                      ? attention_command(again, i.name, sets)
                      : collect_command(again, "", "stalls", "--counters core,stalls --replay kernel");
    if (step.nsight_speedup)
        f.nsight_compute_would_say = "\"Est. Local Speedup: " + words::percent(*step.nsight_speedup.number) +
                                     "\" by its occupancy rule. Here the counters agree that warps are "
                                     "missing; how much more would help they do not say.";
    return f;
}

}  // namespace

std::vector<Finding> low_occupancy_hurts(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        for (const Step* step : weighty_kernels(*i))
            if (latency::bound(a, *step)) out.push_back(finding(a, *i, *step, uses(a, *step)));
    }
    return out;
}

}  // namespace attnscope::rule
