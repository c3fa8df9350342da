#include <algorithm>

#include "all.h"
#include "asked.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// CTAs along y and z of a grid, on every compute capability (CUDA C++ Programming Guide, technical
/// specifications).
constexpr double kMostAlongYAndZ = 65535;

bool failed_by_it(const Implementation* i) {
    return i && i->status == ImplementationStatus::failed &&
           (i->reason.find("invalid configuration argument") != std::string::npos ||
            i->reason.find("invalid argument") != std::string::npos);
}

Finding finding(const Analysis& a, const Asked& one, bool seen) {
    const bool batch = one.batch >= one.heads;
    const double count = std::max(one.batch, one.heads);
    const std::string what = batch ? "batch" : "heads";
    Finding f;
    f.subject = one.who;
    f.severity = seen ? Severity::problem : Severity::warning;
    f.claim = one.who + (seen ? " failed: " : " will fail to launch: ") + one.backend + " puts the " + what +
              " on a grid axis that holds 65,535 CTAs, and here it is " + words::number(count) + "." +
              (seen ? " LibTorch: \"" + one.implementation->reason + "\"" : "");
    f.evidence = {evidence(what, exact(count, Unit::count, a), "65,535: the most along y or z of a grid"),
                  evidence("beyond the limit", exact(count - kMostAlongYAndZ, Unit::count, a), "0")};
    f.counter_evidence = {
        "Splitting the " + what + " into calls of at most 65,535 costs a launch each and changes no result.",
        "math has no such limit: its products are batched by the library, and its other "
        "kernels use the x axis."};
    Analysis half = a;
    (batch ? half.workload.batch : half.workload.heads) = kMostAlongYAndZ;
    if (!batch) half.workload.kv_heads = half.workload.heads;
    f.next_step = a.has_convention && one.implementation
                      ? attention_command(half, one.implementation->name, "-o within-the-limit")
                      : collect_command(a, a.predicted() ? "" : "real", "within-the-limit");
    return f;
}

}  // namespace

std::vector<Finding> launch_limit(const Analysis& a) {
    std::vector<Finding> out;
    for (const Asked& one : asked(a)) {
        if (std::max(one.batch, one.heads) <= kMostAlongYAndZ) continue;
        // LibTorch 2.11 splits a batch for the efficient kernels itself.
        if (one.backend != "flash" && one.backend != "cudnn") continue;
        const bool seen = failed_by_it(one.implementation);
        // What was launched was within the limit, whatever is thought of it here; a library's kernels are
        // not launched on a virtual GPU.
        const bool launched = one.implementation && one.implementation->status == ImplementationStatus::ran &&
                              !(one.backend == "cudnn" && a.predicted());
        const bool refused =
            one.implementation && one.implementation->status == ImplementationStatus::refused;
        if (!launched && !refused) out.push_back(finding(a, one, seen));
    }
    return out;
}

}  // namespace attnscope::rule
