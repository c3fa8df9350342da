#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> counters_missing(const Analysis& a) {
    const bool imported = a.ground == Ground::imported && a.serialised_only;  // Nsight Compute's
    if (!imported && (a.counters_request.empty() || a.counters_request == "none")) return {};
    if (a.predicted() && !a.counted()) return {};  // no virtual GPU has any: the banner says so
    if (!a.counters_range.empty() && a.counters_range != "kernel" && a.counted()) return {};
    double kernels = 0, without = 0;
    std::string reason;
    for (const Implementation* i : ran(a))
        for (const Step& step : i->steps) {
            if (!step.is_kernel()) continue;
            kernels += double(step.times);
            const Measured* lacking = nullptr;
            for (const Measured& m : step.counters) {
                if (m.value) lacking = nullptr;
                if (m.value) break;
                if (!lacking) lacking = &m;
            }
            if (!lacking) continue;
            without += double(step.times);
            if (reason.empty()) reason = lacking->value.absent;
        }
    if (without == 0) return {};
    Finding f;
    f.subject = a.device_name;
    f.severity = Severity::info;
    f.claim = words::number(without) + " of " + words::plural(kernels, "kernel") +
              (a.has_convention ? " of one iteration of each implementation" : "") +
              " have no counter values. First reason: " + reason + ".";
    f.evidence = {evidence("kernels without values", exact(without, Unit::count, a)),
                  evidence("kernels", exact(kernels, Unit::count, a))};
    f.counter_evidence = {
        "Launches, resources and theoretical occupancy do not depend on counters: they stay as they are."};
    f.next_step = imported ? "ncu --set full -o counted ./program && attnscope import counted.ncu-rep"
                           : "attnscope doctor";
    return {f};
}

}  // namespace attnscope::rule
