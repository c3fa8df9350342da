#include "latency_bound.h"

namespace attnscope::rule::latency {

bool bound(const Analysis& a, const Step& step) {
    const Value& achieved = counted(step.counters, counter_role::kAchievedOccupancy);
    if (!achieved || *achieved.number >= kFewWarps) return false;
    const bool multiplies = is_attention(step.role) || step.role == Role::gemm;
    for (const Use& use : uses(a, step)) {
        if (!use.value) return false;
        const bool pipe = multiplies && use.name == "tensor pipe";
        if (*use.value.number >= (pipe ? kIdlePipe : kIdle)) return false;
    }
    return true;
}

}  // namespace attnscope::rule::latency
