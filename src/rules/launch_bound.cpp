#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own thresholds: share of the iteration in which the GPU has nothing to do; how much longer
/// than the GPU the program takes.
constexpr double kIdle = 0.2;
constexpr double kProgram = 1.5;

Finding finding(const Analysis& a, const Implementation& i, double idle, bool gaps) {
    Finding f;
    f.subject = i.title;
    f.severity = gaps ? Severity::warning : Severity::info;
    if (gaps)
        f.claim = i.title + " leaves the GPU idle between its launches: " +
                  words::percent(100 * idle / *i.span.number) +
                  " of the time from the first launch's start " + "to the last one's end (" +
                  words::milliseconds(idle) + " of " + words::milliseconds(*i.span.number) +
                  ") no kernel or copy of it runs.";
    else
        f.claim = i.title + " is launched slower than it runs: the program takes " +
                  words::milliseconds(*i.later_iterations.number) +
                  " for an iteration, its kernels and "
                  "copies " +
                  words::milliseconds(*i.time.number) + ".";
    if (gaps) {
        f.evidence.push_back(evidence(
            "idle between launches",
            Value::of(idle, Unit::nanoseconds, i.span.provenance,
                      words::milliseconds(*i.span.number) + " - " + words::milliseconds(*i.time.number)),
            "speaks from " + words::percent(100 * kIdle) + " of the iteration's span"));
    }
    f.evidence.push_back(evidence("span of an iteration", i.span));
    f.evidence.push_back(evidence("summed GPU time of an iteration", i.time));
    f.evidence.push_back(evidence("launches of an iteration", i.launches));
    if (i.later_iterations)
        f.evidence.push_back(evidence("the program's time for an iteration", i.later_iterations,
                                      "speaks from " + words::number(kProgram) + " x the summed GPU time"));
    f.counter_evidence = {
        "Recording itself adds some microseconds to each launch; kernels of a few microseconds are idle "
        "between launches under any profiler.",
        gaps ? "A gap can also be the program's: a synchronisation, or another stream's work."
             : "The program's time includes whatever it waits for inside an iteration, the GPU too."};
    if (i.backend == "cudnn")
        f.counter_evidence.push_back(
            "cuDNN prepares each call on the CPU; public reports saw iterations grow from 406 to 638 ms by "
            "it "
            "(torchtune #1652).");
    f.next_step = a.has_convention ? attention_command(a, i.name, "--iterations 50 -o launches")
                                   : collect_command(a, "", "launches");
    return f;
}

}  // namespace

std::vector<Finding> launch_bound(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : ran(a)) {
        if (!i->time || !i->span || *i->span.number <= 0 || *i->time.number <= 0) continue;
        const double idle = *i->span.number - *i->time.number;
        const bool gaps = idle >= kIdle * *i->span.number;
        const bool slow = i->later_iterations && *i->later_iterations.number >= kProgram * *i->time.number;
        if (gaps || slow) out.push_back(finding(a, *i, idle, gaps));
    }
    return out;
}

}  // namespace attnscope::rule
