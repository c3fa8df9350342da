#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own threshold: exponentials and products run on different pipes, so that those which take
/// clearly less can hide behind the others; nearly equal ones cannot.
constexpr double kNear = 0.8;

Finding finding(const Analysis& a, const Implementation& i, const Step* kernel) {
    const Prediction& p = i.prediction;
    const double share = *p.exponential_time.number / *p.compute_time.number;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::info;
    f.claim = "Exponentials limit " + i.title + " as much as products do: by the GPU's peaks they take " +
              words::percent(100 * share) + " of the time of its matrix products. " +
              (share > 1 ? "Faster products change nothing."
                         : "Only a kernel that computes both at once comes near its bound.");
    f.evidence = {
        evidence("exponentials / products",
                 Value::of(100 * share, Unit::percent, {Source::model, p.exponential_time.provenance.ground},
                           p.exponential_time.formula + ", against " + p.compute_time.formula),
                 "speaks from " + words::percent(100 * kNear)),
        evidence("least time of the exponentials", p.exponential_time),
        evidence("least time of the products", p.compute_time)};
    if (kernel && kernel->mix)
        f.evidence.push_back(
            evidence("exponential instructions in its code",
                     Value::of(double(kernel->mix->exponentials), Unit::count, {Source::binary, a.ground}),
                     "MUFU.EX2; how often they run is not in the code"));
    bool measured = false;
    if (kernel)
        for (const auto& [label, role] : {std::pair{"special-function pipe used", "xu_pipe"},
                                          std::pair{"tensor pipe busy", counter_role::kTensorPipe}})
            if (const Value& value = counted(kernel->counters, role)) {
                f.evidence.push_back(evidence(label, value));
                measured = measured || std::string_view(role) == "xu_pipe";
            }
    f.counter_evidence = {
        "A model of peaks: one exponential for each visible score on the special-function unit. Kernels that "
        "compute some of them with multiplications (FlashAttention 4 does) are not held by it.",
        "The longer the heads, the more products stand against each exponential: at head_dim 128 the share "
        "is half of that at 64."};
    if (!measured)
        f.counter_evidence.push_back("How much of the special-function pipe it used was not counted.");
    Analysis again = a;
    again.counters_request.clear();
    f.next_step = a.predicted() ? attention_command(again, i.name, "-o exponentials")
                                : attention_command(again, i.name,
                                                    "--counters core,instructions --replay kernel -o pipes");
    return f;
}

}  // namespace

std::vector<Finding> exponentials(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        const Prediction& p = i->prediction;
        if (!i->fused() || !p.exponential_time || !p.compute_time || *p.compute_time.number <= 0 ||
            *p.exponential_time.number < kNear * *p.compute_time.number)
            continue;
        out.push_back(finding(a, *i, i->lowest_occupancy()));
    }
    return out;
}

}  // namespace attnscope::rule
