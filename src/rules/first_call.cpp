#include <algorithm>

#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own thresholds.
constexpr double kTimes = 3;
constexpr double kLeast = 1e6;  // ns

std::string threshold() {
    return "speaks from " + words::number(kTimes) + " x a later one and " + words::milliseconds(kLeast) +
           " more";
}

std::vector<std::string> counter_evidence(const Implementation& i) {
    std::vector<std::string> out;
    if (i.backend == "cudnn")
        out.push_back(
            "cuDNN builds an execution plan for each new shape on the CPU (public reports: about 400 ms, "
            "sgl-project/sglang PR #4650): a program whose shapes change pays it again and again "
            "(TORCH_CUDNN_SDPA_AVOID_RECOMPILE, PyTorch PR #155958).");
    out.push_back(
        "It is the program's time: loading of the kernels, handles and workspaces of libraries and the first "
        "allocations are in it, and a second first call would not need them all again.");
    if (!i.iterations_equal) out.push_back(i.title + ": " + i.iterations_note + ".");
    return out;
}

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
    f.evidence = {
        evidence(i.first_is_warmup ? "first warm-up" : "first iteration", i.first_iteration, threshold()),
        evidence("later iterations, median", i.later_iterations),
        evidence("summed GPU time of an iteration", i.time)};
    double only_then = 0;
    for (const Step& step : i.apart) only_then += double(step.times);
    if (i.first_is_warmup && only_then > 0)
        f.evidence.push_back(evidence("launches seen in the warm-up only",
                                      Value::of(only_then, Unit::count, {Source::trace, a.ground}),
                                      "autotuning, set-up"));
    f.counter_evidence = counter_evidence(i);
    f.next_step = a.has_convention ? attention_command(a, i.name, "--warmup 3 --iterations 50 -o warm")
                                   : collect_command(a, "", "warm");
    return f;
}

/// Warm-ups of several: one finding, no figure of the report has them.
Finding of_warmups(const Analysis& a, const std::vector<const Implementation*>& all) {
    Finding f;
    std::vector<std::string> titles, parts;
    std::string only;
    for (const Implementation* i : all) {
        titles.push_back(i->title);
        parts.push_back(i->title + " " + words::milliseconds(*i->first_iteration.number));
        only += (only.empty() ? "" : ",") + i->name;
        f.evidence.push_back(evidence("first warm-up of " + i->title, i->first_iteration, threshold()));
        f.evidence.push_back(evidence("later iterations of " + i->title + ", median", i->later_iterations));
        for (const std::string& counter : counter_evidence(*i))  // each once
            if (std::find(f.counter_evidence.begin(), f.counter_evidence.end(), counter) ==
                f.counter_evidence.end())
                f.counter_evidence.push_back(counter);
    }
    f.subject = words::join(titles);
    f.severity = Severity::info;
    f.claim = "First calls take the program far longer than later ones: " + words::join(parts) +
              ". That is in the warm-up and so in no figure of this report.";
    f.next_step = a.has_convention ? attention_command(a, only, "--warmup 3 --iterations 50 -o warm")
                                   : collect_command(a, "", "warm");
    return f;
}

}  // namespace

std::vector<Finding> first_call(const Analysis& a) {
    std::vector<Finding> out;
    std::vector<const Implementation*> warmups;
    for (const Implementation* i : ran(a)) {
        if (!i->first_iteration || !i->later_iterations) continue;
        const double first = *i->first_iteration.number, later = *i->later_iterations.number;
        if (!(later > 0 && first >= kTimes * later && first - later >= kLeast)) continue;
        if (i->first_is_warmup)
            warmups.push_back(i);
        else
            out.push_back(finding(a, *i));
    }
    if (warmups.size() == 1)
        out.push_back(finding(a, *warmups.front()));
    else if (!warmups.empty())
        out.push_back(of_warmups(a, warmups));
    return out;
}

}  // namespace attnscope::rule
