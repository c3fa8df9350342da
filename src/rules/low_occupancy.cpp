#include <cmath>

#include "all.h"
#include "attnscope/sass.h"
#include "known_time.h"
#include "latency_bound.h"

namespace attnscope::rule {
namespace {

/// Nsight Compute's occupancy rule is silent from here on.
constexpr double kNsightThreshold = 80;
constexpr double kLow = 50;
/// Tensor pipe, percent of active cycles: from here on few warps are seen to keep it fed. Public reports have
/// FlashAttention 2 at 40 to 57%, cuDNN and FlashAttention 3 at 55 to 77%.
constexpr double kBusy = 40;
/// Achieved below this share of the theoretical occupancy is worth a sentence.
constexpr double kFullShare = 0.8;

bool attention_kernel(const Step& step) {
    return step.role == Role::flash || step.role == Role::efficient || step.role == Role::cudnn;
}

/// What the counters say for the claim or against it, or that nobody counted.
void settle(const Analysis& a, const Implementation& i, const Step& step, Finding& f) {
    const Measured* tensor = find_role(step.counters, counter_role::kTensorPipe);
    const Measured* achieved = find_role(step.counters, counter_role::kAchievedOccupancy);
    if (achieved && achieved->value) {
        f.evidence.push_back(evidence("achieved occupancy", achieved->value,
                                      words::percent(*step.occupancy.number) + " is the theoretical one"));
        if (*achieved->value.number < kFullShare * *step.occupancy.number)
            f.counter_evidence.push_back(
                "Achieved occupancy is " + words::say_with_ground(achieved->value) +
                ", below the theoretical " + words::percent(*step.occupancy.number) +
                ": CTAs that end early, or a last wave that is not full, leave warps out.");
    }
    if (tensor && tensor->value) {
        f.evidence.push_back(
            evidence("tensor pipe busy", tensor->value, "of the cycles in which an SM had work"));
        const std::string busy = words::say_with_ground(tensor->value) + " of the active cycles";
        if (*tensor->value.number >= kBusy) {
            f.claim += " The tensor pipe is busy " + busy + ": few warps keep it fed.";
        } else if (*tensor->value.number < latency::kIdlePipe) {
            f.severity = Severity::info;
            f.counter_evidence.insert(f.counter_evidence.begin(),
                                      "The tensor pipe is busy only " + busy +
                                          ": here few warps do not keep it fed, whatever the reason is.");
        } else {
            f.counter_evidence.push_back("The tensor pipe is busy " + busy +
                                         ": neither full nor idle, so it does not settle it.");
        }
        return;
    }
    const std::string unknown = not_measured(a, "how busy the tensor pipe is, which would settle it");
    f.counter_evidence.push_back(
        !unknown.empty() ? unknown
                         : not_counted(i, counter_role::kTensorPipe,
                                       "How busy the tensor pipe is was not counted: it would settle it"));
}

/// The one that has more occupancy, and whether that makes it faster.
std::string against(const Analysis& a, const Implementation& i, const Implementation& higher) {
    const std::vector<KnownTime> times = comparable_times(a);
    const KnownTime *mine = time_of(times, i), *theirs = time_of(times, higher);
    return higher.title + " does the same work at " +
           words::percent(*higher.lowest_occupancy()->occupancy.number) + ": " +
           (mine && theirs
                ? "it takes " + theirs->words() + " against " + mine->words() + " (" + mine->from + ")."
                : "occupancy alone does not rank them, only a measurement does.");
}

/// Why few warps suffice, as far as the kernel's name, its code and the shape tell it.
void explain(const Analysis& a, const Implementation& i, const Step& step, Finding& f) {
    std::vector<std::string> reasons;
    if (step.decoded && step.decoded->block_queries.value_or(0) > 0) {
        const double queries = *step.decoded->block_queries;
        reasons.push_back("every key and value that a CTA fetches serves " + words::number(queries) +
                          " queries");
        f.evidence.push_back(evidence("queries of a CTA's tile",
                                      Value::of(queries, Unit::count, {Source::binary, a.ground},
                                                "from the kernel's name: " + step.decoded->tile_words())));
    }
    if (step.mix && step.mix->tensor() > 0) {
        const double multiply = double(step.mix->tensor());
        const double fetch =
            double(step.mix->count(InstructionClass::async_copy) + step.mix->count(InstructionClass::tma));
        f.evidence.push_back(
            evidence("tensor instructions in its code",
                     Value::of(multiply, Unit::count, {Source::binary, a.ground}, tensor_words(*step.mix))));
        if (fetch > 0) {
            f.evidence.push_back(evidence("asynchronous copies in its code",
                                          Value::of(fetch, Unit::count, {Source::binary, a.ground})));
            reasons.push_back("the next ones come by asynchronous copies (" + words::number(fetch) +
                              " in its code) while the same warps multiply (" + tensor_words(*step.mix) +
                              ")");
        }
    }
    const Prediction& p = i.prediction;
    if (p.intensity && p.ridge) {
        f.evidence.push_back(
            evidence("arithmetic intensity, FLOP per byte", p.intensity,
                     "ridge " + words::number(*p.ridge.number) + ": above it DRAM is not the lower roof"));
        if (*p.intensity.number > *p.ridge.number)
            reasons.push_back("with " + words::number(*p.intensity.number) +
                              " FLOP for each byte, above the ridge of " + words::number(*p.ridge.number) +
                              ", DRAM is not the lower roof, so few bytes need be on their way");
    }
    if (!reasons.empty()) f.claim += " Few warps suffice: " + words::join(reasons, "; ", "; ") + ".";
}

Finding finding(const Analysis& a, const Implementation& i, const Step& step, const Implementation* higher) {
    const Occupancy& o = step.residency;
    const std::string percent = words::percent(*step.occupancy.number);
    Finding f;
    f.subject = i.title;
    f.severity = Severity::good;
    f.claim = percent + " theoretical occupancy of " + i.title +
              " is the design, not the fault: " + words::number(*step.registers.number) + " registers x " +
              words::number(*step.threads.number) + " threads and " + words::bytes(*step.shared.number) +
              " of shared memory leave room for " + words::plural(o.ctas_per_sm, "CTA") +
              " on an SM (limited by " + step.limiter + "), yet it is " +
              words::plural(*i.launches.number, "launch") + " and no score reaches device memory.";
    f.evidence = {evidence("theoretical occupancy", step.occupancy,
                           "Nsight Compute warns below " + words::percent(kNsightThreshold)),
                  evidence("registers per thread", step.registers,
                           "a CTA takes " + words::number(*step.registers.number * *step.threads.number)),
                  evidence("shared memory per CTA", step.shared), evidence("CTAs per SM", step.ctas_per_sm),
                  evidence("score-matrix bytes", i.score_bytes)};
    if (step.local.number.value_or(0) > 0)
        f.evidence.push_back(evidence("local memory per thread (stack and spills)", step.local));
    if (step.time) f.evidence.push_back(evidence("median GPU time", step.time));
    explain(a, i, step, f);
    if (higher) f.counter_evidence.push_back(against(a, i, *higher));
    settle(a, i, step, f);
    f.next_step = attention_command(a, higher ? i.name + "," + higher->name : i.name,
                                    a.predicted() ? "-o occupancy" : "--iterations 50 -o occupancy");
    if (step.nsight_speedup)
        f.nsight_compute_would_say =
            "\"Est. Local Speedup: " + words::number(std::round(*step.nsight_speedup.number * 100) / 100) +
            "%. The theoretical occupancy (" + percent + ") is limited by " + step.limiter +
            "\". Its rule is 1 - theoretical warps / maximum warps and looks at nothing else. More warps "
            "would need smaller tiles or spilled accumulators, "
            "which costs the reuse that makes one kernel enough: the promise does not hold here.";
    return f;
}

}  // namespace

std::vector<Finding> low_occupancy_by_design(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        const Step* step = i->lowest_occupancy();
        if (!step || !attention_kernel(*step) || *step->occupancy.number >= kLow) continue;
        if (!step->registers || !step->shared || !step->threads || !i->launches ||
            i->score_bytes.number != 0.0 || latency::bound(a, *step))
            continue;
        const Implementation* higher = nullptr;
        for (const Implementation* other : distinct(a)) {
            const Step* theirs = other->lowest_occupancy();
            if (other != i && theirs && attention_kernel(*theirs) && other->fused() &&
                *theirs->occupancy.number > *step->occupancy.number)
                higher = other;
        }
        // The one that has more occupancy is the counter-example of the others, not a finding of its own.
        const bool is_counter_example = [&] {
            for (const Implementation* other : distinct(a)) {
                const Step* theirs = other->lowest_occupancy();
                if (other != i && theirs && attention_kernel(*theirs) && other->fused() &&
                    *theirs->occupancy.number < *step->occupancy.number)
                    return true;
            }
            return false;
        }();
        if (!is_counter_example) out.push_back(finding(a, *i, *step, higher));
    }
    return out;
}

}  // namespace attnscope::rule
