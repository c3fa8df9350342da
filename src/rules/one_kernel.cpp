#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> one_kernel(const Analysis& a) {
    std::vector<const Implementation*> fused, separate;
    const Implementation* most = nullptr;
    for (const Implementation* i : ran(a)) {
        if (i->fused()) continue;
        separate.push_back(i);
        if (!most || *i->launches.number > *most->launches.number) most = i;
    }
    if (!most) return {};
    std::vector<std::string> names, counts;
    bool one_each = true;
    for (const Implementation* i : ran(a)) {
        if (!i->fused() || i->name == "sdpa_auto" || *i->launches.number >= *most->launches.number) continue;
        fused.push_back(i);
        names.push_back(i->title);
        counts.push_back(i->title + " " + words::number(*i->launches.number));
        one_each = one_each && *i->launches.number == 1;
    }
    if (fused.empty()) return {};
    Finding f;
    f.subject = words::join(names);
    f.severity = Severity::good;
    f.claim = one_each ? "One kernel instead of many: 1 launch for " + words::join(names) + ", "
                       : "Few kernels instead of many: launches of " + words::join(counts) + ", ";
    f.claim += words::number(*most->launches.number) + " for " + most->title + ".";
    for (const Implementation* i : fused)
        f.evidence.push_back(evidence("launches of " + i->title, i->launches));
    for (const Implementation* i : separate) {
        f.evidence.push_back(evidence("launches of " + i->title, i->launches));
        f.evidence.push_back(evidence("score-matrix bytes of " + i->title, i->score_bytes, "fused: 0"));
    }
    if (fused[0]->least_bytes)
        f.evidence.push_back(evidence("least bytes of any implementation", fused[0]->least_bytes));
    bool counted = false;
    for (const Implementation* i : {most, fused[0]})
        if (const Value& dram = i->counter(counter_role::kDramBytes)) {
            f.evidence.push_back(evidence("DRAM bytes of " + i->title + ", counted", dram));
            counted = true;
        }
    f.counter_evidence = {std::string(counted ? "Score-matrix and least bytes" : "The bytes") +
                          " are reads and writes of the kernels by a model: what stays in the L2 cache does "
                          "not reach DRAM, most "
                          "of all for small shapes."};
    for (const Implementation* i : fused)
        if (i->library_calls.number.value_or(0) > 0)
            f.counter_evidence.push_back(i->title +
                                         ": a library call can be more than one kernel on a real GPU.");
    if (const std::string unknown = not_measured(a, "DRAM bytes and time"); !unknown.empty())
        f.counter_evidence.push_back(unknown);
    f.next_step = attention_command(a, most->name + "," + fused[0]->name, "-o fused");
    return {f};
}

}  // namespace attnscope::rule
