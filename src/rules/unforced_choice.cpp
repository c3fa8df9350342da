#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> unforced_choice(const Analysis& a) {
    if (a.choice.chosen.empty()) return {};
    const auto& order = a.choice.order;
    double position = 0;
    for (size_t i = 0; i < order.size(); ++i)
        if (order[i] == a.choice.chosen) position = double(i) + 1;
    if (position == 0) return {};
    Finding f;
    f.subject = "sdpa_auto";
    f.severity = Severity::info;  // a fall to math is a finding of its own
    f.claim = "Left alone, LibTorch chooses " + a.choice.chosen + ": number " + words::number(position) +
              " of its order (" + words::join(order, ", ") + ").";
    std::vector<std::string> passed;
    for (size_t i = 0; i + 1 < size_t(position); ++i) {
        std::string why = "no reason given";
        for (const auto& [backend, reason] : a.choice.refused)
            if (backend == order[i]) why = reason;
        passed.push_back(order[i] + ": \"" + why + "\"");
    }
    if (!passed.empty()) f.claim += " Passed over: " + words::join(passed, "; ") + ".";
    f.evidence = {evidence("place in the order of priority",
                           Value::of(position, Unit::count, {Source::reported, a.ground}),
                           "of " + words::number(double(order.size())))};
    f.counter_evidence = {
        "The order is LibTorch's, by GPU generation and version: it is a preference, not a measurement of "
        "this shape."};
    f.next_step = attention_command(a, "sdpa_auto,sdpa_flash,sdpa_efficient,sdpa_cudnn", "-o choice");
    return {f};
}

}  // namespace attnscope::rule
