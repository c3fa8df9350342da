#include "all.h"
#include "asked.h"
#include "refusals.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// Numbers of an implementation that ran so; `i` may be nullptr.
void add_costs(const Implementation* i, Finding& f) {
    if (!i || i->status != ImplementationStatus::ran) return;
    if (i->launches)
        f.evidence.push_back(evidence("launches of one iteration", i->launches, "a fused backend: 1"));
    if (i->score_bytes)
        f.evidence.push_back(evidence("score-matrix bytes", i->score_bytes, "a fused backend: 0"));
    if (i->peak_memory) f.evidence.push_back(evidence("peak memory", i->peak_memory));
}

Finding finding(const Analysis& a, const std::string& subject, const std::vector<std::string>& refused,
                const Implementation* i) {
    const double n = double(refused.size());
    Finding f;
    f.subject = subject;
    f.severity = Severity::warning;
    f.claim = subject + " falls to the math backend, silently: " + words::plural(n, "backend") +
              (n == 1 ? " refuses" : " refuse") + " the call. " + words::join(refused, "; ", "; ") + ".";
    f.evidence = {evidence("backends that refuse the call",
                           Value::of(n, Unit::count, {Source::reported, a.ground}),
                           "0: the first of the order takes it")};
    add_costs(i, f);
    if (i && i->status != ImplementationStatus::ran && i->prediction.least_memory)
        f.evidence.push_back(evidence("least peak memory", i->prediction.least_memory));
    f.counter_evidence = {
        "math is right, only slow: it is what LibTorch compares its fused backends with. For short sequences "
        "its extra launches are the cost, not its bytes."};
    f.next_step = a.has_convention ? attention_command(a, "sdpa_auto", "--why")
                                   : collect_command(a, a.predicted() ? "" : "real", "fixed");
    return f;
}

}  // namespace

std::vector<Finding> math_fallback(const Analysis& a) {
    std::vector<Finding> out;
    if (a.has_convention || a.calls.empty()) {
        if (a.choice.chosen != "math") return out;
        // With LibTorch's answer to the call itself there are the further reasons.
        std::vector<std::string> refused = refusals(a.choice);
        for (const AttentionCall& call : a.calls)
            if (call.choice.chosen == "math" && call.implementation.rfind("sdpa_auto", 0) == 0)
                refused = refusals(call.choice);
        const Implementation* automatic = nullptr;
        for (const Implementation& i : a.implementations)
            if (i.name == "sdpa_auto") automatic = &i;
        if (!refused.empty() && !forced(refused)) out.push_back(finding(a, "sdpa_auto", refused, automatic));
        return out;
    }
    for (const AttentionCall& call : a.calls) {
        const auto refused = refusals(call.choice);
        if (call.choice.chosen != "math" || refused.empty() || forced(refused)) continue;
        const Implementation* by = nullptr;
        for (const Implementation& i : a.implementations)
            if (i.title == call.implementation) by = &i;
        const std::string subject =
            call.implementation.empty() ? "scaled_dot_product_attention" : call.implementation;
        Finding f = finding(a, subject, refused, by);
        if (!call.inputs.empty()) f.claim += " Its queries: " + call.inputs[0] + ".";
        bool told = false;
        for (const Finding& other : out) told = told || other.claim == f.claim;
        if (!told) out.push_back(std::move(f));
    }
    return out;
}

}  // namespace attnscope::rule
