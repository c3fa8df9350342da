#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> collections_differ(const Analysis& a) {
    double times = 0;
    std::string first;
    for (const Notice& notice : a.notices) {
        if (notice.code != "collections-differ") continue;
        times += double(notice.count);
        if (first.empty()) first = notice.message;
    }
    if (times == 0) return {};
    Finding f;
    f.subject = "the run";
    f.severity = Severity::warning;
    f.claim =
        "Counters and times cannot be held together (" + words::plural(times, "process") + "): " + first;
    if (f.claim.back() != '.') f.claim += '.';
    f.evidence = {evidence("processes whose two runs differ", exact(times, Unit::count, a),
                           "0: both runs launch the same kernels")};
    f.counter_evidence = {
        "The counters themselves are right: they belong to the kernels that the run for counters launched."};
    f.next_step = a.has_convention ? attention_command(a, "", "--warmup 10 -o again")
                                   : collect_command(a, a.predicted() ? "" : "real", "again");
    return {f};
}

}  // namespace attnscope::rule
