#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> replay_time(const Analysis& a) {
    if (a.ground != Ground::imported || !a.serialised_only || !a.counted()) return {};
    Finding f;
    f.subject = "the imported file";
    f.severity = Severity::info;
    f.claim =
        "Nsight Compute's durations (" + words::plural(*a.total_kernels.number, "kernel") +
        ") are not the program's times, and no total is made of them: each kernel ran alone, again for every "
        "pass, by default with its caches flushed and the clocks at their base.";
    f.evidence = {evidence("kernels", a.total_kernels)};
    for (const Implementation* i : ran(a))
        if (const Value& time = i->counter(counter_role::kSerialisedTime))
            f.evidence.push_back(evidence("kernel time of " + i->title + " under Nsight Compute", time,
                                          "not the program's time"));
    f.counter_evidence = {
        "Bytes, instructions and occupancy do not depend on the clocks; hit rates and DRAM bytes do depend "
        "on "
        "whether the caches were flushed (--cache-control none keeps them)."};
    f.next_step =
        "nsys profile --trace=cuda,nvtx -o timed ./program && nsys export --type sqlite timed.nsys-rep && "
        "attnscope report timed.sqlite";
    return {f};
}

}  // namespace attnscope::rule
