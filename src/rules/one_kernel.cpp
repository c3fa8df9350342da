#include <algorithm>

#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> one_kernel(const Analysis& a) {
    std::vector<const Implementation*> fused, separate;
    std::vector<std::string> names;
    for (const Implementation* i : ran(a)) {
        if (!i->launches || i->name == "sdpa_auto") continue;
        if (i->fused() && *i->launches.number <= 3) {
            fused.push_back(i);
            names.push_back(i->title);
        } else if (!i->fused()) {
            separate.push_back(i);
        }
    }
    if (fused.empty() || separate.empty()) return {};
    const Implementation* most = separate.front();
    for (const Implementation* i : separate)
        if (*i->launches.number > *most->launches.number) most = i;
    Finding f;
    f.subject = words::join(names);
    f.severity = Severity::good;
    f.claim = "One kernel instead of many: " + words::join(names) +
              (fused.size() == 1 ? " needs " : " need ") + words::number(*fused[0]->launches.number) +
              " launch" + (*fused[0]->launches.number == 1 ? "" : "es") + (fused.size() == 1 ? "" : " each") +
              ", " + most->title + " " + words::number(*most->launches.number) + ".";
    for (const Implementation* i : fused)
        f.evidence.push_back(evidence("launches of " + i->title, i->launches));
    for (const Implementation* i : separate) {
        f.evidence.push_back(evidence("launches of " + i->title, i->launches));
        f.evidence.push_back(evidence("score-matrix bytes of " + i->title, i->score_bytes, "fused: 0"));
    }
    if (fused[0]->least_bytes)
        f.evidence.push_back(evidence("least bytes of any implementation", fused[0]->least_bytes));
    f.counter_evidence = {
        "The bytes are reads and writes of the kernels, counted by a model: what stays in the L2 cache does "
        "not reach DRAM, most of all for small shapes."};
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
