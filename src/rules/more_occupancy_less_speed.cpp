#include "all.h"
#include "known_time.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// The two differ in occupancy by more than rounding of CTAs to an SM.
constexpr double kMore = 1.2;

Finding finding(const Analysis& a, const KnownTime& slow, const KnownTime& fast) {
    const Implementation &more = *slow.implementation, &less = *fast.implementation;
    const Step &wide = *more.lowest_occupancy(), &narrow = *less.lowest_occupancy();
    Finding f;
    f.subject = more.title;
    f.severity = Severity::info;
    f.claim = "More occupancy, less speed: " + more.title + " keeps " +
              words::percent(*wide.occupancy.number) + " of an SM's warps and takes " + slow.words() + ", " +
              less.title + " keeps " + words::percent(*narrow.occupancy.number) + " and takes " +
              fast.words() + " (" + fast.from + ").";
    for (const auto& [i, step, time] : {std::tuple{&more, &wide, &slow}, std::tuple{&less, &narrow, &fast}}) {
        f.evidence.push_back(
            evidence("theoretical occupancy of " + i->title, step->occupancy, "limited by " + step->limiter));
        f.evidence.push_back(evidence("time of " + i->title, time->time, time->from));
        if (const Value& tensor = counted(step->counters, counter_role::kTensorPipe))
            f.evidence.push_back(evidence("tensor pipe busy, " + i->title, tensor));
    }
    for (const auto& [i, step] : {std::pair{&more, &wide}, std::pair{&less, &narrow}})
        if (step->decoded && !step->decoded->tile_words().empty())
            f.counter_evidence.push_back(i->title + "'s tile: " + step->decoded->tile_words() +
                                         " (head dimension: queries x keys).");
    f.counter_evidence.push_back(
        "These are different kernels, and occupancy is one difference among many: for one and the same "
        "kernel that waits for latencies, more warps can help.");
    f.next_step = attention_command(a, less.name + "," + more.name,
                                    a.predicted() ? "-o occupancy" : "--iterations 50 -o occupancy");
    return f;
}

bool is_attention_kernel(const Implementation& i) {
    const Step* step = i.lowest_occupancy();
    return i.fused() && step && is_attention(step->role) && step->occupancy && *step->occupancy.number > 0;
}

}  // namespace

std::vector<Finding> more_occupancy_less_speed(const Analysis& a) {
    const std::vector<KnownTime> times = comparable_times(a);
    std::vector<Finding> out;
    // Of each, the fastest that does with less: one sentence a kernel.
    for (const KnownTime& slow : times) {
        if (!is_attention_kernel(*slow.implementation)) continue;
        const double occupancy = *slow.implementation->lowest_occupancy()->occupancy.number;
        const KnownTime* best = nullptr;
        for (const KnownTime& fast : times)
            if (is_attention_kernel(*fast.implementation) && clearly_shorter(fast, slow) &&
                *fast.implementation->lowest_occupancy()->occupancy.number * kMore <= occupancy &&
                (!best || *fast.time.number < *best->time.number))
                best = &fast;
        if (best) out.push_back(finding(a, slow, *best));
    }
    return out;
}

}  // namespace attnscope::rule
