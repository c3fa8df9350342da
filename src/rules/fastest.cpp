#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> fastest(const Analysis& a) {
    if (!a.has_convention || a.predicted()) return {};
    const Implementation* first = nullptr;
    const Implementation* last = nullptr;
    for (const Implementation* i : ran(a)) {
        if (!i->time || differs(a, *i)) continue;  // equal results first, speed second
        if (!first || *i->time.number < *first->time.number) first = i;
        if (!last || *i->time.number > *last->time.number) last = i;
    }
    if (!first || first == last || *first->time.number <= 0) return {};
    const double ratio = *last->time.number / *first->time.number;
    Finding f;
    f.subject = first->title;
    f.severity = Severity::good;
    f.claim = first->title + " is fastest: " + words::milliseconds(*first->time.number) + ", " +
              words::number(ratio) + " times faster than " + last->title + " (" +
              words::milliseconds(*last->time.number) + ").";
    f.evidence = {evidence(first->title + ", median GPU time", first->time),
                  evidence(last->title + ", median GPU time", last->time),
                  evidence(first->title + ", interquartile range", first->time_iqr)};
    f.counter_evidence = {"Summed GPU time leaves out the time between launches and the CPU's part.",
                          (a.clocks.sm && a.clocks.sm->least < a.clocks.sm->most
                               ? "The SM clock was between " + words::number(a.clocks.sm->least) + " and " +
                                     words::number(a.clocks.sm->most) + " MHz during the run"
                               : std::string("Clocks were not locked by attnscope")) +
                              "; the ranking of close ones can change with shape and GPU."};
    f.next_step = attention_command(a, first->name + "," + last->name, "--iterations 50 -o repeat");
    return {f};
}

}  // namespace attnscope::rule
