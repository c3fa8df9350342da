#include <algorithm>

#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> not_decidable(const Analysis& a) {
    if (!a.predicted() || !a.has_convention) return {};
    std::vector<const Implementation*> tied;
    std::vector<std::string> names;
    std::string only;
    for (const Implementation* i : ran(a)) {
        if (!i->fused() || i->name == "sdpa_auto" || !i->least_bytes || !i->flops) continue;
        tied.push_back(i);
        names.push_back(i->title);
        only += (only.empty() ? "" : ",") + i->name;
    }
    if (tied.size() < 2) return {};
    Finding f;
    f.subject = words::join(names);
    f.severity = Severity::info;
    f.claim = "Which of " + words::join(names) +
              " is fastest is not decidable without measurement: all must move at least " +
              words::bytes(*tied[0]->least_bytes.number) + " and compute " +
              words::number(*tied[0]->flops.number) + " FLOP.";
    f.evidence = {evidence("least bytes of each", tied[0]->least_bytes),
                  evidence("useful FLOP of each", tied[0]->flops)};
    f.counter_evidence = {
        "Published rankings contradict each other and change with shape and GPU (cuDNN against flash on an "
        "A100: faster in PyTorch PR #192799, slower in PR #126122)."};
    // Somebody's measurement of this very shape says more than the bounds: it is not hidden behind them.
    for (const Rank::Faster& faster : a.rank.faster)
        if (std::count(names.begin(), names.end(), faster.first) > 0 &&
            std::count(names.begin(), names.end(), faster.second) > 0)
            f.counter_evidence.push_back(faster.first + " was faster than " + faster.second + ": " +
                                         faster.why + ".");
    f.next_step = real_attention_command(a, only);
    return {f};
}

}  // namespace attnscope::rule
