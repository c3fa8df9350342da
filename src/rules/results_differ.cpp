#include "all.h"
#include "support.h"

namespace attnscope::rule {
std::vector<Finding> results_differ(const Analysis& a) {
    std::vector<Finding> out;
    const double limit = rounding_limit(a.workload.dtype);
    for (const Implementation& i : a.implementations) {
        if (!differs(a, i)) continue;
        Finding f;
        f.subject = i.title;
        f.severity = Severity::problem;
        f.claim = i.title + " gives other results than " + i.compared_with + ": the largest difference is " +
                  words::number(*i.max_abs_difference.number) +
                  ", more than rounding explains. Its speed is not comparable.";
        f.evidence = {evidence("largest absolute difference", i.max_abs_difference,
                               "limit " + words::number(limit) + " for " + a.workload.dtype)};
        f.counter_evidence = {
            "The limit is for inputs of unit variance; larger values round in larger steps."};
        f.next_step = attention_command(a, i.name + "," + i.compared_with, "-o differ");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
