#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

std::string tera(double per_second) {
    return words::number(per_second / 1e12) + " TFLOP/s";
}

Finding finding(const Analysis& a, const Implementation& i, double reached) {
    const double roof = *i.prediction.roof.number;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::problem;
    f.claim = i.title + " cannot be that fast: " + words::number(*i.flops.number) + " useful FLOP in " +
              words::milliseconds(*i.time.number) + " are " + tera(reached) + ", " +
              words::percent(100 * reached / roof) + " of the peak of the " + i.prediction.roof_name + " (" +
              tera(roof) + "). The time, the roof or the FLOPs are wrong.";
    f.evidence = {
        evidence("useful FLOP", i.flops, "the convention: causal is half of the square"),
        evidence("summed GPU time of an iteration", i.time),
        evidence("useful FLOP / time",
                 Value::of(reached, Unit::flop_per_second, i.time.provenance,
                           words::number(*i.flops.number) + " FLOP / " + words::milliseconds(*i.time.number)),
                 "above 100% of the roof"),
        evidence("roof: " + i.prediction.roof_name, i.prediction.roof)};
    if (i.prediction.executed_flops)
        f.evidence.push_back(evidence("executed FLOP", i.prediction.executed_flops));
    f.counter_evidence = {
        "Programs that count the whole square for causal attention report twice these FLOPs, and more than "
        "100% for it (flash-attention #1345); here half is counted.",
        "The peak is the datasheet's, dense and at its boost clock: sparsity, another dtype than marked or "
        "an overclocked GPU have another one.",
        "A kernel that failed, or that skipped its work, takes no time: check the results first."};
    f.next_step = attention_command(a, i.name + (i.name == "sdpa_math" ? "" : ",sdpa_math"),
                                    "--iterations 50 -o again");
    return f;
}

}  // namespace

std::vector<Finding> above_roof(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : ran(a)) {
        if (!i->time || !i->flops || !i->prediction.roof || *i->time.number <= 0) continue;
        const double reached = *i->flops.number / *i->time.number * 1e9;
        if (reached > *i->prediction.roof.number) out.push_back(finding(a, *i, reached));
    }
    return out;
}

}  // namespace attnscope::rule
