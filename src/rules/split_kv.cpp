#include "all.h"
#include "attnscope/kernel_name.h"
#include "support.h"

namespace attnscope::rule {
namespace {

bool splits(const Step& step) {
    if (step.decoded) return step.decoded->part == AttentionKernelName::Part::split_forward;
    const auto name = attention_kernel_name(step.full_name);
    return name && name->part == AttentionKernelName::Part::split_forward;
}

Finding finding(const Analysis& a, const Implementation& i, const Step& step) {
    // FlashAttention 2 launches (tiles of queries, splits, batch x heads); PyTorch's
    // flash_fwd_launch_template.h.
    const double parts = (*step.grid)[1], ctas = *step.ctas.number, sms = *a.sm_count;
    const double combines = count(i, Role::flash_combine);
    Finding f;
    f.subject = i.title;
    f.severity = Severity::good;
    f.claim = "Flash splits the keys among " + words::number(parts) + " CTAs, so that the grid has " +
              words::plural(ctas, "CTA") + " instead of " + words::number(ctas / parts) + " for " +
              words::number(sms) + " SMs; " +
              (combines == 1 ? "a second kernel merges" : words::plural(combines, "more kernel") + " merge") +
              " the parts.";
    f.evidence = {
        evidence("splits", exact(parts, Unit::count, a, "the grid's second dimension")),
        evidence("CTAs of the grid", step.ctas, words::number(sms) + " SMs"),
        evidence("CTAs without splitting",
                 exact(ctas / parts, Unit::count, a, words::number(ctas) + " / " + words::number(parts)),
                 words::number(sms) + " SMs")};
    if (step.waves) f.evidence.push_back(evidence("waves", step.waves, "1: every SM is full once"));
    f.evidence.push_back(evidence("kernels that merge", exact(combines, Unit::count, a)));
    f.counter_evidence = {
        "Splitting is not free: each part of the output goes through memory in fp32, and one more kernel is "
        "launched; with many queries or heads the whole grid is large enough without it."};
    f.next_step =
        a.has_convention ? attention_command(a, i.name, "-o split") : collect_command(a, "", "split");
    return f;
}

}  // namespace

std::vector<Finding> split_kv(const Analysis& a) {
    std::vector<Finding> out;
    if (!a.sm_count) return out;
    for (const Implementation* i : distinct(a)) {
        if (count(*i, Role::flash_combine) == 0) continue;
        for (const Step& step : i->steps)
            if (step.is_kernel() && step.role == Role::flash && step.grid && (*step.grid)[1] > 1 &&
                step.ctas && splits(step)) {
                out.push_back(finding(a, *i, step));
                break;
            }
    }
    return out;
}

}  // namespace attnscope::rule
