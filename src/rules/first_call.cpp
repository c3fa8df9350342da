#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own thresholds.
constexpr double kTimes = 3;
constexpr double kLeast = 1e6;  // ns

Finding finding(const Analysis& a, const Implementation& i) {
    const double first = *i.first_iteration.number, later = *i.later_iterations.number;
    Finding f;
    f.subject = i.title;
    f.severity = i.first_is_warmup ? Severity::info : Severity::warning;
    f.claim = "The first call of " + i.title + " takes the program " + words::milliseconds(first) +
              ", later ones " + words::milliseconds(later) + ": " + words::milliseconds(first - later) +
              " of preparation" +
              (i.first_is_warmup ? ", in the warm-up and so in no figure of this report."
                                 : ". There was no warm-up: it is inside the measurement, 1 of " +
                                       words::plural(double(i.iterations), "iteration") + ".");
    f.evidence = {evidence(i.first_is_warmup ? "first warm-up" : "first iteration", i.first_iteration,
                           "speaks from " + words::number(kTimes) + " x a later one and " +
                               words::milliseconds(kLeast) + " more"),
                  evidence("later iterations, median", i.later_iterations),
                  evidence("summed GPU time of an iteration", i.time)};
    double only_then = 0;
    for (const Step& step : i.apart) only_then += double(step.times);
    if (i.first_is_warmup && only_then > 0)
        f.evidence.push_back(evidence("launches seen in the warm-up only",
                                      Value::of(only_then, Unit::count, {Source::trace, a.ground}),
                                      "autotuning, set-up"));
    if (i.backend == "cudnn")
        f.counter_evidence.push_back(
            "cuDNN builds an execution plan for each new shape on the CPU (public reports: about 400 ms, "
            "sgl-project/sglang PR #4650): a program whose shapes change pays it again and again "
            "(TORCH_CUDNN_SDPA_AVOID_RECOMPILE, PyTorch PR #155958).");
    f.counter_evidence.push_back(
        "It is the program's time: loading of the kernels, handles and workspaces of libraries and the first "
        "allocations are in it, and a second first call would not need them all again.");
    if (!i.iterations_equal) f.counter_evidence.push_back(i.iterations_note + ".");
    f.next_step = a.has_convention ? attention_command(a, i.name, "--warmup 3 --iterations 50 -o warm")
                                   : collect_command(a, "", "warm");
    return f;
}

}  // namespace

std::vector<Finding> first_call(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : ran(a)) {
        if (!i->first_iteration || !i->later_iterations) continue;
        const double first = *i->first_iteration.number, later = *i->later_iterations.number;
        if (later > 0 && first >= kTimes * later && first - later >= kLeast) out.push_back(finding(a, *i));
    }
    return out;
}

}  // namespace attnscope::rule
