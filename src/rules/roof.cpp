#include <cmath>

#include "all.h"
#include "analysis/models.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// Which roof, and why it is that one.
std::string which(const Implementation& i) {
    const Prediction& p = i.prediction;
    if (p.binds == "memory") return "DRAM bandwidth: most of its kernels move more than they multiply";
    if (p.binds == "exponentials")
        return "exponentials: one a score, and the MUFU is slower than the products";
    const bool upcast = i.backend == "math" && p.roof_name == "fp32 CUDA cores";
    return "products on the " + p.roof_name + (upcast ? ": it computes in fp32 whatever its inputs are" : "");
}

}  // namespace

std::vector<Finding> roof(const Analysis& a) {
    std::vector<std::string> names, parts;
    std::string only;
    Finding f;
    const Implementation *farthest = nullptr, *nearest = nullptr;
    double least = 100, most = 0;
    for (const Implementation* i : distinct(a)) {
        const Value share = share_of_bound(*i);
        // Beyond 100% the bound or the time is wrong: above-the-roof speaks of it.
        if (!share || *share.number > 100 || *i->prediction.bound.number <= 0) continue;
        names.push_back(i->title);
        parts.push_back(i->title + " " + words::percent(std::round(*share.number * 10) / 10));
        only += (only.empty() ? "" : ",") + i->name;
        f.evidence.push_back(evidence("bound / time of " + i->title, share, which(*i)));
        if (*share.number < least) {
            least = *share.number;
            farthest = i;
        }
        if (*share.number > most) {
            most = *share.number;
            nearest = i;
        }
    }
    if (!farthest) return {};
    f.subject = words::join(names);
    f.severity = Severity::info;
    if (nearest == farthest)
        f.claim = words::join(names) + (names.size() == 1 ? " reaches " : " reach ") +
                  words::percent(std::round(least * 10) / 10) +
                  " of what the roof allows: " + farthest->title + " takes ";
    else
        f.claim = nearest->title + " comes nearest to its roof, " + farthest->title +
                  " stays farthest below: of what the roofs allow, " + words::join(parts) + ". " +
                  farthest->title + " takes ";
    f.claim += words::number(*farthest->time.number / *farthest->prediction.bound.number) +
               " times its bound, set by " + which(*farthest) + ".";
    f.counter_evidence = {
        "A bound is a limit, no aim: launches, latencies, partial waves and clocks below the boost clock "
        "keep every "
        "kernel from it, small problems most.",
        "Shares of different roofs do not rank: 60% of a high bound can be slower than 20% of a low one."};
    f.next_step = attention_command(a, only, "--counters core --iterations 50 -o roof");
    return {f};
}

}  // namespace attnscope::rule
