// Bytes against the model, time against the bound.
#include <cmath>

#include "analysis/words.h"
#include "figures.h"
#include "findings.h"
#include "rules/support.h"

namespace attnscope::comparing {
namespace {

/// Counted bytes this much beyond the model's are worth a sentence: smaller ones are row statistics, masks
/// and what other work of the GPU moves.
constexpr double kMore = 1.1;
/// Counted bytes this much below the least cannot be: the counters' own error is smaller.
constexpr double kBelow = 0.98;
/// A share of the bound that falls by less is no news.
constexpr double kLess = 0.95;

/// DRAM bytes that the model can be held against: counters see kernels, so that copies are missing in them.
const Value& counted_bytes(const Implementation& i) {
    static const Value none = Value::missing("copies are not counted", Unit::bytes);
    return i.copies.number == 0.0 ? i.counter(counter_role::kDramBytes) : none;
}

Finding more_bytes(const Comparison& c, const ImplementationPair& p, const Value& counted) {
    const Prediction& model = p.b->prediction;
    const double least = *model.dram_bytes.number;
    const bool beyond_all = *counted.number > kMore * *model.bytes.number;
    Finding f;
    f.subject = p.b->title;
    f.severity = beyond_all ? Severity::warning : Severity::info;
    f.claim =
        p.title() + " moves " + words::bytes(*counted.number) + " through DRAM in B" +
        (least > 0 ? ", " + words::number(*counted.number / least) + " times the least" : std::string()) +
        " that the model leaves after the L2 (" + words::bytes(least) + ")";
    f.claim += beyond_all ? ", and more than all that its kernels read and write without any cache (" +
                                words::bytes(*model.bytes.number) + "): something is moved more than once."
                          : "; without any cache it would be " + words::bytes(*model.bytes.number) + ".";
    f.evidence = {rule::evidence("DRAM bytes in B", counted, "all kernels of one iteration"),
                  rule::evidence("the model's least", model.dram_bytes),
                  rule::evidence("the model without caches", model.bytes)};
    if (const Value& before = p.a->counter(counter_role::kDramBytes))
        f.evidence.push_back(rule::evidence("DRAM bytes in A", before));
    f.counter_evidence = other_causes(c);
    f.counter_evidence.push_back(
        "The least assumes that the L2 keeps as many bytes of every kernel's inputs and outputs as it can "
        "hold; "
        "real caches keep less.");
    f.next_step = "attnscope report " + words::shell_word(c.b->folder) + " --details";
    return f;
}

/// B alone has a time: how far it is from what was predicted.
Finding against_prediction(const Comparison& c, const ImplementationPair& p, const Value& share) {
    const Prediction& model = p.b->prediction;
    Finding f;
    f.subject = p.b->title;
    f.severity = Severity::info;
    f.claim = p.title() + " takes " + words::say_with_ground(p.b->time) + ", " +
              words::number(*p.b->time.number / *model.bound.number) + " times its bound of " +
              words::milliseconds(*model.bound.number) + " (" + model.binds +
              "): " + words::percent(std::round(*share.number * 10) / 10) + " of what the roof allows.";
    f.evidence = {rule::evidence("GPU time in B", p.b->time), rule::evidence("time bound", model.bound),
                  rule::evidence("bound / time", share),
                  rule::evidence("roof: " + model.roof_name, model.roof)};
    f.counter_evidence = other_causes(c);
    f.counter_evidence.push_back(
        "A bound is no prediction of the time: published times lie above theirs too.");
    f.next_step = "attnscope report " + words::shell_word(c.b->folder) + " --details";
    return f;
}

Finding less_than_before(const Comparison& c, const ImplementationPair& p, const FigurePair& share) {
    Finding f;
    f.subject = p.b->title;
    f.severity = Severity::warning;
    f.claim = p.title() + " reaches " + words::percent(std::round(*share.b.number * 10) / 10) +
              " of what its roof allows in B, " + words::percent(std::round(*share.a.number * 10) / 10) +
              " in A.";
    const FigurePair &time = p.figure("time"), &bound = p.figure("bound");
    for (const FigurePair* figure : {&share, &time, &bound}) {
        f.evidence.push_back(rule::evidence(figure->title + " in A", figure->a));
        f.evidence.push_back(rule::evidence(figure->title + " in B", figure->b));
    }
    f.counter_evidence = other_causes(c);
    if (f.counter_evidence.empty())
        f.counter_evidence = {
            "Clocks, temperature and other work on the GPU change times without any change in "
            "the program."};
    f.next_step = run_again(c, c.a->has_convention ? p.b->name : std::string());
    return f;
}

Finding broken(const Comparison& c, const ImplementationPair& p, const char* what, const Value& reality,
               const Value& bound) {
    Finding f;
    f.subject = p.b->title;
    f.severity = Severity::problem;
    f.claim = p.title() + ": " + what + " in B, " + words::say_with_ground(reality) +
              ", is below the bound, " + words::say(bound) +
              ". Either the model does not hold for it, or the figure is wrong.";
    f.evidence = {rule::evidence(what, reality), rule::evidence("bound", bound)};
    f.counter_evidence = other_causes(c);
    f.counter_evidence.push_back(
        "A GPU above its stated clocks, a kernel that failed, or data left in the L2 by the iteration before "
        "are known causes.");
    f.next_step = "attnscope report " + words::shell_word(c.b->folder) + " --details";
    return f;
}

}  // namespace

std::vector<Finding> bound_broken(const Comparison& c) {
    std::vector<Finding> out;
    for (const ImplementationPair& p : c.pairs) {
        const Prediction& model = p.b->prediction;
        if (p.b->time && model.bound && *p.b->time.number < *model.bound.number)
            out.push_back(broken(c, p, "GPU time", p.b->time, model.bound));
        const Value& counted = counted_bytes(*p.b);
        if (counted && model.dram_bytes && *counted.number < kBelow * *model.dram_bytes.number)
            out.push_back(broken(c, p, "DRAM bytes", counted, model.dram_bytes));
    }
    return out;
}

std::vector<Finding> more_bytes_than_predicted(const Comparison& c) {
    std::vector<Finding> out;
    for (const ImplementationPair& p : c.pairs) {
        const Value& counted = counted_bytes(*p.b);
        const Prediction& model = p.b->prediction;
        if (counted && model.dram_bytes && model.bytes && *counted.number > kMore * *model.dram_bytes.number)
            out.push_back(more_bytes(c, p, counted));
    }
    return out;
}

std::vector<Finding> less_of_the_roof(const Comparison& c) {
    std::vector<Finding> out;
    for (const ImplementationPair& p : c.pairs) {
        const FigurePair& share = p.figure("share_of_bound");
        if (!share.b || *p.b->prediction.bound.number <= 0 || *share.b.number >= 100) continue;
        if (!share.a && c.a->predicted())
            out.push_back(against_prediction(c, p, share.b));
        else if (share.relation == Relation::less && share.ratio().value_or(1) < kLess)
            out.push_back(less_than_before(c, p, share));
    }
    return out;
}

}  // namespace attnscope::comparing
