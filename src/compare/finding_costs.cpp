// Bytes against the model, time against the bound.
#include <cmath>

#include "analysis/words.h"
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

/// Counted bytes of one implementation, and what the model says of them.
struct Bytes {
    const ImplementationPair* pair;
    const Value* counted;
    double least() const { return *pair->b->prediction.dram_bytes.number; }
    double all() const { return *pair->b->prediction.bytes.number; }
    bool beyond_all() const { return *counted->number > kMore * all(); }
};

std::string times(double number, double of) {
    return words::number(number / of) + " times";
}

void add_bytes(const Comparison& c, Finding& f, const Bytes& b, const std::string& of) {
    const Prediction& model = b.pair->b->prediction;
    f.evidence.push_back(
        rule::evidence("DRAM bytes" + of + " in " + c.name_b, *b.counted, "all kernels of one iteration"));
    f.evidence.push_back(rule::evidence("the model's least" + of, model.dram_bytes));
    f.evidence.push_back(rule::evidence("the model without caches" + of, model.bytes));
    if (const Value& before = b.pair->a->counter(counter_role::kDramBytes))
        f.evidence.push_back(rule::evidence("DRAM bytes" + of + " in A", before));
}

void doubt_the_model(const Comparison& c, Finding& f) {
    f.counter_evidence = other_causes(c);
    f.counter_evidence.push_back(
        "The least assumes that the L2 keeps as many bytes of every kernel's inputs and outputs as it can "
        "hold; "
        "real caches keep less.");
    f.next_step = "attnscope report " + words::shell_word(c.b->folder) + " --details";
}

/// More than no cache at all explains.
Finding moved_twice(const Comparison& c, const Bytes& b) {
    Finding f;
    f.subject = b.pair->b->title;
    f.severity = Severity::warning;
    f.claim = b.pair->title() + " moves " + words::bytes(*b.counted->number) + " through DRAM in " +
              c.name_b + ", more than all that its kernels read and write without any cache (" +
              words::bytes(b.all()) + "): something is moved more than once.";
    add_bytes(c, f, b, "");
    doubt_the_model(c, f);
    return f;
}

/// Between the least and what no cache would leave: what the L2 did not keep. One finding for all.
Finding not_kept(const Comparison& c, const std::vector<Bytes>& all) {
    std::vector<std::string> titles, parts;
    Finding f;
    for (const Bytes& b : all) {
        titles.push_back(b.pair->title());
        parts.push_back(
            b.pair->title() + " " +
            (b.least() > 0 ? times(*b.counted->number, b.least()) : words::bytes(*b.counted->number)));
        add_bytes(c, f, b, " of " + b.pair->title());
    }
    f.subject = titles.size() == 1 ? titles[0] : std::string();
    f.severity = Severity::info;
    f.claim = "DRAM moves more in " + c.name_b +
              " than the least that the model leaves after the L2: " + words::join(parts) +
              "; not more than their kernels read and write without any cache.";
    doubt_the_model(c, f);
    return f;
}

/// B alone has times: how far each is from its bound. One finding for all.
Finding against_prediction(const Comparison& c, const std::vector<const ImplementationPair*>& all) {
    std::vector<std::string> titles, parts;
    Finding f;
    for (const ImplementationPair* p : all) {
        const Prediction& model = p->b->prediction;
        titles.push_back(p->title());
        parts.push_back(p->title() + " " + times(*p->b->time.number, *model.bound.number));
        f.evidence.push_back(rule::evidence("bound / time of " + p->title(), p->figure("share_of_bound").b,
                                            words::say_with_ground(p->b->time) + " against " +
                                                words::milliseconds(*model.bound.number) + ", bound by " +
                                                model.binds));
    }
    f.subject = titles.size() == 1 ? titles[0] : std::string();
    f.severity = Severity::info;
    f.claim = "Times in " + c.name_b + " are multiples of their bounds: " + words::join(parts) + ".";
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
              " of what its roof allows in " + c.name_b + ", " +
              words::percent(std::round(*share.a.number * 10) / 10) + " in A.";
    const FigurePair &time = p.figure("time"), &bound = p.figure("bound");
    for (const FigurePair* figure : {&share, &time, &bound}) add_both(f, c, *figure);
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
    f.claim = p.title() + ": " + what + " in " + c.name_b + ", " + words::say_with_ground(reality) +
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
    std::vector<Bytes> kept_less;
    for (const ImplementationPair& p : c.pairs) {
        const Bytes b{&p, &counted_bytes(*p.b)};
        const Prediction& model = p.b->prediction;
        if (!*b.counted || !model.dram_bytes || !model.bytes || *b.counted->number <= kMore * b.least())
            continue;
        if (b.beyond_all())
            out.push_back(moved_twice(c, b));
        else
            kept_less.push_back(b);
    }
    if (!kept_less.empty()) out.push_back(not_kept(c, kept_less));
    return out;
}

std::vector<Finding> less_of_the_roof(const Comparison& c) {
    std::vector<Finding> out;
    std::vector<const ImplementationPair*> predicted;
    for (const ImplementationPair& p : c.pairs) {
        const FigurePair& share = p.figure("share_of_bound");
        if (!share.b || *p.b->prediction.bound.number <= 0 || *share.b.number >= 100) continue;
        if (!share.a && c.a->predicted())
            predicted.push_back(&p);
        else if (share.relation == Relation::less && share.ratio().value_or(1) < kLess)
            out.push_back(less_than_before(c, p, share));
    }
    if (!predicted.empty()) out.push_back(against_prediction(c, predicted));
    return out;
}

}  // namespace attnscope::comparing
