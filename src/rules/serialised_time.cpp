#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> serialised_time(const Analysis& a) {
    if (a.predicted() || !a.counted() || !a.serialised_only || a.ground == Ground::imported) return {};
    Finding f;
    f.subject = "the run";
    f.severity = Severity::info;
    f.claim = "The program ran once, under counters: the " +
              words::plural(*a.total_kernels.number, "kernel") +
              " ran one by one, and how long they take undisturbed is not known.";
    f.evidence = {evidence("kernels", a.total_kernels)};
    for (const Implementation* i : ran(a))
        if (const Value& time = i->counter(counter_role::kSerialisedTime))
            f.evidence.push_back(
                evidence("kernel time of " + i->title + ", serialised", time, "not the program's time"));
    f.counter_evidence = {
        "Counters that do not depend on time (bytes, occupancy, pipe use) are of the same kernels in any "
        "case."};
    f.next_step = a.has_convention ? attention_command(a, "", "--timing separate -o timed")
                                   : collect_command(a, "real", "timed", "--timing separate");
    return {f};
}

}  // namespace attnscope::rule
