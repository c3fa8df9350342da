#include <algorithm>

#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> library_chosen(const Analysis& a) {
    double calls = 0;
    std::vector<std::string> libraries;
    for (const Implementation& i : a.implementations) {
        for (const Step& step : i.steps) {
            if (step.kind != LaunchKind::library_call) continue;
            calls += double(step.times);
            const std::string name =
                step.call && !step.call->library.empty() ? step.call->library : "a library";
            if (std::find(libraries.begin(), libraries.end(), name) == libraries.end())
                libraries.push_back(name);
        }
    }
    if (calls == 0) return {};
    Finding f;
    f.subject = words::join(libraries);
    f.severity = Severity::info;
    f.claim = words::plural(calls, "call") + " to " + words::join(libraries) +
              " are known by operation and shape alone: which kernels they launch, with what registers, grid "
              "and occupancy, the library chooses on a real GPU.";
    f.evidence = {evidence("library calls in one iteration of all implementations",
                           Value::of(calls, Unit::count, {Source::trace, a.ground}),
                           "one or more kernels each")};
    f.counter_evidence = {"Number, order, shapes and types of the calls are LibTorch's own and are exact."};
    f.next_step = a.has_convention ? real_attention_command(a, "") : collect_command(a, "real", "real");
    return {f};
}

}  // namespace attnscope::rule
