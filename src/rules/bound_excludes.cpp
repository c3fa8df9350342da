#include <algorithm>

#include "all.h"
#include "known_time.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// The shortest time that a claim may stand on; a single measured one is enough.
std::optional<KnownTime> fastest_known(const Analysis& a) {
    std::vector<KnownTime> times = comparable_times(a);
    if (times.empty())
        for (const Implementation* i : distinct(a))
            if (i->time) times.push_back({i, i->time, i->time_iqr.number.value_or(0), "measured"});
    std::optional<KnownTime> best;
    for (const KnownTime& t : times)
        if (!differs(a, *t.implementation) && (!best || *t.time.number < *best->time.number)) best = t;
    return best;
}

}  // namespace

std::vector<Finding> bound_excludes(const Analysis& a) {
    const auto best = fastest_known(a);
    if (!best) return {};
    std::vector<const Implementation*> excluded;
    std::vector<std::string> names, open, parts;
    std::string only = best->implementation->name;
    for (const Implementation* i : distinct(a)) {
        if (i == best->implementation || !i->prediction.bound) continue;
        if (*i->prediction.bound.number <= *best->time.number + best->spread) {
            open.push_back(i->title);
            continue;
        }
        excluded.push_back(i);
        names.push_back(i->title);
        parts.push_back(i->title + " " + words::milliseconds(*i->prediction.bound.number));
        only += "," + i->name;
    }
    if (excluded.empty()) return {};
    Finding f;
    f.subject = words::join(names);
    f.severity = Severity::info;
    f.claim = words::join(names) + " cannot be the fastest here, however well tuned: no run of " +
              (names.size() == 1 ? "it is" : "them is") + " faster than " + words::join(parts) + ", and " +
              best->implementation->title + " takes " + best->words() + " (" + best->from + ").";
    f.evidence = {evidence("time of " + best->implementation->title, best->time, best->from)};
    for (const Implementation* i : excluded)
        f.evidence.push_back(evidence("bound of " + i->title, i->prediction.bound,
                                      "bound by " + i->prediction.binds + "; " +
                                          words::number(*i->prediction.bound.number / *best->time.number) +
                                          " times that time"));
    f.counter_evidence = {
        "A bound is of the kernels as they are: fused into one, the same computation is another "
        "implementation "
        "with another bound."};
    if (!open.empty())
        f.counter_evidence.push_back("It says nothing of " + words::join(open) +
                                     ": their bounds are below that time.");
    if (best->from != "measured")
        f.counter_evidence.push_back("The time is somebody else's, with other versions and clocks.");
    f.next_step = a.predicted() ? real_attention_command(a, only)
                                : attention_command(a, only, "--iterations 50 -o bounds");
    return {f};
}

}  // namespace attnscope::rule
