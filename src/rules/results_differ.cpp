#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// Where nothing is finite, no difference can be told.
Finding not_finite(const Implementation& i, const Implementation& other) {
    Finding f;
    f.claim = i.title + " gives NaN or infinity in " + words::number(*i.non_finite.number) +
              (*i.non_finite.number == 1 ? " element" : " elements") + " of its result, " + other.title +
              " in " + words::number(*other.non_finite.number) + ". Its speed is not comparable.";
    f.evidence = {evidence("elements that are not finite", i.non_finite,
                           words::number(*other.non_finite.number) + " of " + other.title)};
    f.counter_evidence = {
        "A row that is masked whole has no defined result: some implementations answer NaN there, others "
        "zeros."};
    return f;
}

Finding too_far(const Analysis& a, const Implementation& i) {
    const double limit = rounding_limit(a.workload.dtype);
    Finding f;
    f.claim = i.title + " gives other results than " + i.compared_with + ": the largest difference is " +
              words::number(*i.max_abs_difference.number) +
              ", more than rounding explains. Its speed is not comparable.";
    f.evidence = {evidence("largest absolute difference", i.max_abs_difference,
                           "limit " + words::number(limit) + " for " + a.workload.dtype)};
    f.counter_evidence = {"The limit is for inputs of unit variance; larger values round in larger steps."};
    return f;
}

}  // namespace

std::vector<Finding> results_differ(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation& i : a.implementations) {
        if (!differs(a, i)) continue;
        const Implementation* other = more_finite(a, i);
        Finding f = other ? not_finite(i, *other) : too_far(a, i);
        f.subject = i.title;
        f.severity = Severity::problem;
        f.next_step =
            attention_command(a, i.name + "," + (other ? other->name : i.compared_with), "-o differ");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
