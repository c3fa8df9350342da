#include <algorithm>

#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// Nsight Compute (SpeedOfLight.py) takes a unit for the bottleneck from here on.
constexpr double kBusy = 80;

Finding finding(const Analysis& a, const Implementation& i, const Step& step, const Value& l2) {
    Finding f;
    f.subject = i.title;
    f.severity = Severity::info;
    f.claim = kernel_words(i, step) + " is bound by the L2 cache: it is busy " + words::say_with_ground(l2) +
              " of its peak, more than anything else that was counted (" + in_words(uses(a, step)) +
              "). DRAM is not what it waits for.";
    f.evidence = {
        evidence("L2 busy", l2,
                 "bottleneck: from " + words::percent(kBusy) + ", as Nsight Compute's Speed Of Light rule")};
    for (const Use& use : uses(a, step))
        if (use.name != "L2") f.evidence.push_back(evidence(use.name + " busy", use.value));
    for (const auto& [label, role] :
         {std::pair{"L2 bytes", "l2_bytes"}, std::pair{"L2 hit rate", "l2_hit_rate"}})
        if (const Value& value = counted(step.counters, role)) f.evidence.push_back(evidence(label, value));
    f.counter_evidence = {
        "Attention kernels live from the L2: each tile of queries reads all keys and values from it, and "
        "that "
        "replaces DRAM traffic.",
        "Other pipes were counted one by one: two that are half busy in turn can limit a kernel together."};
    Analysis again = a;
    again.counters_request.clear();
    f.next_step =
        a.has_convention
            ? attention_command(again, i.name, "--counters core,memory,instructions --replay kernel -o l2")
            : collect_command(again, "", "l2", "--counters core,memory,instructions --replay kernel");
    return f;
}

}  // namespace

std::vector<Finding> l2_bound(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        for (const Step* step : weighty_kernels(*i)) {
            const Value& l2 = counted(step->counters, "l2_throughput");
            if (!l2 || *l2.number < kBusy) continue;
            const std::vector<Use> all = uses(a, *step);
            if (std::all_of(all.begin(), all.end(), [&](const Use& use) {
                    return use.name == "L2" || (use.value && *use.value.number < *l2.number);
                }))
                out.push_back(finding(a, *i, *step, l2));
        }
    }
    return out;
}

}  // namespace attnscope::rule
