#include "all.h"
#include "known_time.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own threshold: published times come without their spread.
constexpr double kAtLeast = 1.05;

std::string switch_to(const Implementation& i) {
    if (i.backend == "cudnn")
        return "at::globalContext().setSDPPriorityOrder, or torch.nn.attention.sdpa_kernel(["
               "SDPBackend.CUDNN_ATTENTION])";
    if (i.backend == "flash") return "torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION])";
    if (i.backend == "efficient") return "torch.nn.attention.sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION])";
    return {};
}

Finding finding(const Analysis& a, const KnownTime& chosen, const KnownTime& best) {
    const Implementation &from = *chosen.implementation, &to = *best.implementation;
    const double ratio = *chosen.time.number / *best.time.number;
    Finding f;
    f.subject = from.title;
    f.severity = Severity::warning;
    f.claim = "Left alone, LibTorch chooses " + a.choice.chosen + ", " + chosen.words() + "; " + to.title +
              " computes the same in " + best.words() + ", " + words::number(ratio) + " times faster (" +
              best.from + ").";
    f.evidence = {evidence("time of " + from.title, chosen.time, chosen.from),
                  evidence("time of " + to.title, best.time,
                           best.from + "; speaks from " + words::number(kAtLeast) + " times"),
                  evidence("interquartile range of " + from.title, from.time_iqr),
                  evidence("interquartile range of " + to.title, to.time_iqr)};
    if (to.max_abs_difference)
        f.evidence.push_back(evidence("largest difference from " + to.compared_with, to.max_abs_difference));
    const std::string how = switch_to(to);
    if (!how.empty()) f.counter_evidence.push_back("How to choose it: " + how + ".");
    f.counter_evidence.push_back(
        "LibTorch's order is fixed by GPU generation and version, not by this shape; the winner changes with "
        "shape, GPU and library version, so a choice by hand wants a measurement for each.");
    if (best.from != "measured")
        f.counter_evidence.push_back("The times are somebody else's, with other versions and clocks.");
    f.next_step = a.predicted()
                      ? real_attention_command(a, from.name + "," + to.name)
                      : attention_command(a, from.name + "," + to.name, "--iterations 50 -o choice");
    return f;
}

}  // namespace

std::vector<Finding> faster_backend(const Analysis& a) {
    if (a.choice.chosen.empty()) return {};
    const std::vector<KnownTime> times = comparable_times(a);
    const KnownTime* chosen = nullptr;
    const KnownTime* best = nullptr;
    for (const KnownTime& t : times) {
        if (t.implementation->backend == a.choice.chosen) chosen = &t;
        // Equal results first, speed second.
        if (!differs(a, *t.implementation) && (!best || *t.time.number < *best->time.number)) best = &t;
    }
    if (!chosen || !best || chosen == best || !clearly_shorter(*best, *chosen) ||
        *best->time.number * kAtLeast > *chosen->time.number)
        return {};
    return {finding(a, *chosen, *best)};
}

}  // namespace attnscope::rule
