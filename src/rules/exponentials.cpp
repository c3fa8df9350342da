#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own threshold: exponentials and products run on different pipes, so that those which take
/// clearly less can hide behind the others; nearly equal ones cannot.
constexpr double kNear = 0.8;

/// What its code holds and its counters saw; true: how much of the special-function pipe it used.
bool add_kernel(const Analysis& a, const Implementation& i, Finding& f) {
    const Step* kernel = i.lowest_occupancy();
    if (!kernel) return false;
    if (kernel->mix)
        f.evidence.push_back(
            evidence("exponential instructions in the code of " + i.title,
                     Value::of(double(kernel->mix->exponentials), Unit::count, {Source::binary, a.ground}),
                     "MUFU.EX2; how often they run is not in the code"));
    const Value& used = counted(kernel->counters, "xu_pipe");
    if (used) f.evidence.push_back(evidence("special-function pipe used, " + i.title, used));
    if (const Value& tensor = counted(kernel->counters, counter_role::kTensorPipe))
        f.evidence.push_back(evidence("tensor pipe busy, " + i.title, tensor));
    return bool(used);
}

Finding finding(const Analysis& a, const std::vector<const Implementation*>& limited) {
    const Prediction& p = limited.front()->prediction;
    std::vector<std::string> titles, names;
    for (const Implementation* i : limited) {
        titles.push_back(i->title);
        names.push_back(i->name);
    }
    const double share = *p.exponential_time.number / *p.compute_time.number;
    Finding f;
    f.subject = words::join(titles);
    f.severity = Severity::info;
    f.claim = "Exponentials limit " + f.subject + (share > 1 ? " more than" : " nearly as much as") +
              " products do: by the GPU's peaks they take " + words::percent(100 * share) +
              " of the time of the matrix products. " +
              (share > 1 ? "Faster products change nothing."
                         : "Only a kernel that computes both at once comes near its bound.");
    f.evidence = {
        evidence("exponentials / products",
                 Value::of(100 * share, Unit::percent, {Source::model, p.exponential_time.provenance.ground},
                           p.exponential_time.formula + ", against " + p.compute_time.formula),
                 "speaks from " + words::percent(100 * kNear)),
        evidence("least time of the exponentials", p.exponential_time),
        evidence("least time of the products", p.compute_time)};
    bool measured = true;
    for (const Implementation* i : limited) measured = add_kernel(a, *i, f) && measured;
    f.counter_evidence = {
        "A model of peaks: one exponential for each visible score on the special-function unit. Kernels that "
        "compute some of them with multiplications (FlashAttention 4 does) are not held by it.",
        "The longer the heads, the more products stand against each exponential: at head_dim 128 the share "
        "is half of that at 64."};
    if (!measured)
        f.counter_evidence.push_back("How much of the special-function pipe was used was not counted.");
    Analysis again = a;
    again.counters_request.clear();
    f.next_step = a.predicted() ? attention_command(again, words::join(names, ",", ","), "-o exponentials")
                                : attention_command(again, words::join(names, ",", ","),
                                                    "--counters core,instructions --replay kernel -o pipes");
    return f;
}

}  // namespace

std::vector<Finding> exponentials(const Analysis& a) {
    // Fused kernels of one shape have one share: one finding for all of them.
    std::vector<const Implementation*> limited;
    for (const Implementation* i : distinct(a)) {
        const Prediction& p = i->prediction;
        if (i->fused() && p.exponential_time && p.compute_time && *p.compute_time.number > 0 &&
            *p.exponential_time.number >= kNear * *p.compute_time.number)
            limited.push_back(i);
    }
    if (limited.empty()) return {};
    return {finding(a, limited)};
}

}  // namespace attnscope::rule
