// PyTorch's profiler shows an "est. achieved occupancy %" beside each kernel. Its occupancy calculation does
// not know the opt-in limit of shared memory: for a kernel with more than 48 KiB a CTA "does not fit", and
// the trace says 0. Most of FlashAttention's kernels are of that kind.
#include <algorithm>
#include <tuple>

#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

constexpr double kWithoutOptIn = 48 * 1024;  // bytes a CTA may have without opting in, on every GPU
constexpr double kFarOff = 0.5;
constexpr size_t kShown = 3;

struct Kernel {
    const Implementation* implementation;
    const Step* step;
};

bool artefact(const Step& s) {
    return s.is_kernel() && s.reported_occupancy.number == 0.0 && s.shared.number.value_or(0) > kWithoutOptIn;
}

/// An attention kernel by its name: cuDNN's others (convolution, normalisation) are none.
bool attention_kernel(const Step& s) {
    if (s.role != Role::cudnn) return is_attention(s.role);
    return s.full_name.find("sdpa") != std::string::npos || s.full_name.find("mha") != std::string::npos;
}

/// The trace's estimate of an attention kernel that is not the artefact, but far from what fits.
bool far_off(const Step& s) {
    return s.is_kernel() && attention_kernel(s) && s.reported_occupancy && s.occupancy &&
           *s.reported_occupancy.number < kFarOff * *s.occupancy.number;
}

void add_evidence(Finding& f, const Step& s) {
    f.evidence.push_back(evidence("the trace's figure for " + s.name, s.reported_occupancy));
    f.evidence.push_back(evidence("its shared memory per CTA", s.shared, "48 KiB without opting in"));
    f.evidence.push_back(evidence("its theoretical occupancy", s.occupancy,
                                  s.limiter.empty() ? "" : "limited by " + s.limiter));
}

std::string range_of(const std::vector<Kernel>& kernels) {
    double least = 100, most = 0;
    for (const Kernel& k : kernels)
        if (k.step->occupancy) {
            least = std::min(least, *k.step->occupancy.number);
            most = std::max(most, *k.step->occupancy.number);
        }
    if (most == 0) return {};
    return least == most ? words::percent(least) : words::percent(least) + " to " + words::percent(most);
}

}  // namespace

std::vector<Finding> occupancy_artefact(const Analysis& a) {
    if (a.ground != Ground::imported) return {};
    std::vector<Kernel> found, estimates;
    double launches = 0, attention = 0, estimated = 0;
    for (const Implementation* i : ran(a))
        for (const Step& step : i->steps) {
            if (artefact(step)) {
                found.push_back({i, &step});
                launches += double(step.times);
                if (attention_kernel(step)) attention += double(step.times);
            } else if (step.is_kernel() && step.reported_occupancy) {
                estimated += double(step.times);
                if (far_off(step)) estimates.push_back({i, &step});
            }
        }
    if (found.empty() && estimates.empty()) return {};
    // Those that matter most first: attention, then by time, else by how often they ran.
    const auto by_weight = [](const Kernel& x, const Kernel& y) {
        const auto weight = [](const Kernel& k) {
            return std::tuple(attention_kernel(*k.step), k.step->time.number.value_or(0), k.step->times);
        };
        return weight(x) > weight(y);
    };
    std::stable_sort(found.begin(), found.end(), by_weight);
    std::stable_sort(estimates.begin(), estimates.end(), by_weight);
    Finding f;
    f.subject = (found.empty() ? estimates : found).front().step->name;
    f.severity = found.empty() ? Severity::info : Severity::warning;
    if (!found.empty()) {
        const std::string real = range_of(found);
        f.claim = "The trace shows an \"est. achieved occupancy\" of 0% for " +
                  words::plural(launches, "launch") +
                  (attention > 0 ? ", " + words::number(attention) + " of them fused attention" : "") +
                  ". That is an artefact of PyTorch's profiler, which does not know that a CTA may opt in to "
                  "more than 48 KiB of shared memory; " +
                  (real.empty() ? "what really fits on an SM is not known here (" +
                                      found.front().step->occupancy.absent + ")."
                                : "the theoretical occupancy, computed from registers, shared memory and "
                                  "block, is " +
                                      real + ".");
    }
    if (!estimates.empty()) {
        const Step& s = *estimates.front().step;
        f.claim += (f.claim.empty() ? "The trace's \"est. achieved occupancy\" of " : " Its estimate of ") +
                   words::percent(*s.reported_occupancy.number) + " for " + s.name +
                   " is no measurement: it says how few warps the grid has for this GPU, where " +
                   words::percent(*s.occupancy.number) + " of an SM's warps fit at once.";
    }
    for (size_t i = 0; i < std::min(found.size(), kShown); ++i) add_evidence(f, *found[i].step);
    for (size_t i = 0; i < std::min(estimates.size(), kShown - 1); ++i) add_evidence(f, *estimates[i].step);
    f.counter_evidence.push_back(
        "Theoretical occupancy is how many warps fit, not how many were active: that is a counter, and a "
        "trace "
        "has none.");
    if (estimated > 0)
        f.counter_evidence.push_back(
            "The trace's figures for its other " + words::plural(estimated, "launch") +
            " are estimates from grid and resources, whole percents that are 0 or 1 for small grids: no "
            "measurements either.");
    f.next_step = "attnscope collect --counters core -o counted -- ./program";
    return {f};
}

}  // namespace attnscope::rule
