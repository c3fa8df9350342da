#include "all.h"
#include "analysis/models.h"
#include "attnscope/gpu.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// The generation that the question is usually about: Ampere's users ask about Hopper, Hopper's about Ampere.
const Gpu* counterpart(const Gpu& here) {
    return find_gpu(here.major == 9 ? "A100-SXM4-80GB" : "H100-SXM5");
}

double ratio(const Value& there, const Value& here) {
    return *there.number / *here.number;
}

/// "DRAM x 1.64", and the ratio as evidence: no number is in the claim alone.
void add_peak(const char* what, const Value& there, const Value& here, std::vector<std::string>& peaks,
              std::vector<Evidence>& out) {
    if (!there || !here || *here.number <= 0) return;
    const Value value = Value::of(ratio(there, here), Unit::none, there.provenance,
                                  words::number(*there.number) + " / " + words::number(*here.number));
    peaks.push_back(std::string(what) + " x " + words::number(*value.number));
    out.push_back(evidence(std::string(what) + ", there / here", value));
}

/// The fused implementation that says most: one whose kernel is known.
const Implementation* speaker(const Analysis& a) {
    const Implementation* best = nullptr;
    for (const Implementation* i : distinct(a))
        if (i->fused() && i->prediction.bound &&
            (!best || (!best->lowest_occupancy() && i->lowest_occupancy()) || i->backend == "flash"))
            best = i;
    return best;
}

Value kernel_waves(const Step& step, const Occupancy& there, double sms, Ground ground) {
    return Value::of(*step.ctas.number / (there.ctas_per_sm * sms), Unit::none, {Source::computed, ground},
                     words::number(*step.ctas.number) + " CTAs / (" + words::number(there.ctas_per_sm) +
                         " CTAs per SM x " + words::number(sms) +
                         " SMs), with the kernel's resources of here");
}

void add_kernel(const Analysis& a, const Step& step, const Gpu& other, Finding& f) {
    const auto sms = other.value("multiprocessor_count");
    if (!step.registers || !step.threads || !step.static_shared || !step.dynamic_shared || !step.ctas || !sms)
        return;
    const Occupancy there = theoretical_occupancy(
        sm_limits(other), {uint32_t(*step.registers.number), uint32_t(*step.threads.number),
                           uint32_t(*step.static_shared.number), uint32_t(*step.dynamic_shared.number)});
    if (!there.launchable || there.ctas_per_sm == 0) return;
    f.evidence.push_back(evidence("theoretical occupancy there, with the kernel's resources of here",
                                  Value::of(100 * there.fraction, Unit::percent, {Source::computed, a.ground},
                                            words::number(there.warps_per_sm) + " of " +
                                                words::number(there.max_warps_per_sm) + " warps"),
                                  "here " + words::percent(*step.occupancy.number)));
    f.evidence.push_back(evidence("waves there", kernel_waves(step, there, *sms, a.ground),
                                  "here " + words::number(*step.waves.number)));
}

}  // namespace

std::vector<Finding> other_gpu(const Analysis& a) {
    const auto shape = shape_of(a.workload);
    const Gpu* here = a.device ? find_gpu(a.device->id.empty() ? a.device->name : a.device->id) : nullptr;
    const Implementation* i = speaker(a);
    if (!a.has_convention || !shape || !here || !i) return {};
    const Gpu* other = counterpart(*here);
    const auto method = method_of(*i);
    if (!other || other == here || !method) return {};
    const Roofs now = roofs_of(*here, shape->dtype, a.ground),
                then = roofs_of(*other, shape->dtype, a.ground);
    // Of one attention on both: layers multiply either alike.
    const auto tile = tile_of(*i);
    const Prediction before = predict(*shape, *method, now, a.ground, tile);
    const Prediction after = predict(*shape, *method, then, a.ground, tile);
    if (!before.bound || !after.bound || *after.bound.number <= 0 || *before.bound.number <= 0) return {};
    const double factor = *before.bound.number / *after.bound.number;
    Finding f;
    f.subject = "another GPU";
    f.severity = Severity::info;
    std::vector<std::string> peaks;
    std::vector<Evidence> ratios;
    add_peak("tensor cores", then.tensor, now.tensor, peaks, ratios);
    add_peak("DRAM", then.dram, now.dram, peaks, ratios);
    add_peak("exponentials", then.exponentials, now.exponentials, peaks, ratios);
    add_peak("L2", then.l2, now.l2, peaks, ratios);
    f.claim = "On an " + other->id + " the bound of " + i->title + " is " +
              words::number(factor >= 1 ? factor : 1 / factor) +
              (factor >= 1 ? " times lower (" : " times higher (") + words::join(peaks) + ")" +
              (before.binds == after.binds ? ", and " + after.binds + " still binds"
                                           : ": " + after.binds + " binds there, " + before.binds + " here") +
              ".";
    f.evidence = {evidence("bound on " + here->id, before.bound, "one attention"),
                  evidence("bound on " + other->id, after.bound, "one attention")};
    f.evidence.insert(f.evidence.end(), ratios.begin(), ratios.end());
    for (const auto& [p, gpu] : {std::pair{&before, here}, std::pair{&after, other}})
        if (p->exponential_time && p->compute_time && *p->compute_time.number > 0)
            f.evidence.push_back(
                evidence("exponentials / products on " + gpu->id,
                         Value::of(100 * ratio(p->exponential_time, p->compute_time), Unit::percent,
                                   {Source::model, a.ground},
                                   p->exponential_time.formula + ", against " + p->compute_time.formula)));
    if (const Step* step = i->lowest_occupancy(); step && step->waves) add_kernel(a, *step, *other, f);
    f.counter_evidence = {
        "A bound is no time: no kernel is faster than it, and most are much slower. An older "
        "kernel can leave most of a newer GPU unused (FlashAttention 2 reaches 35% of an H100, "
        "arXiv 2407.08608).",
        "LibTorch's order of backends, and the machine code that runs, depend on the GPU: the next step asks "
        "it, with that GPU in this one's place."};
    Analysis there = a;
    there.ground = Ground::virtual_gpu;
    if (there.device) there.device->id = other->id;
    there.counters_request.clear();
    f.next_step = attention_command(there, {}, "-o " + other->id);
    return {f};
}

}  // namespace attnscope::rule
