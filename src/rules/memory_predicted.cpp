#include "all.h"
#include "asked.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> memory_predicted(const Analysis& a) {
    std::vector<Finding> out;
    if (!a.device || !a.device->memory_bytes) return out;
    const double memory = double(*a.device->memory_bytes);
    for (const Implementation& i : a.implementations) {
        const Value& least = i.prediction.least_memory;
        if (i.status == ImplementationStatus::refused || !least || *least.number <= memory) continue;
        const bool failed = i.status == ImplementationStatus::failed;
        const bool survived = i.status == ImplementationStatus::ran && i.peak_memory &&
                              *i.peak_memory.number <= memory && i.launches.number.value_or(0) > 0;
        if (survived) continue;  // the model is a bound of LibTorch 2.11; what ran did fit
        Finding f;
        f.subject = i.title;
        f.severity = Severity::problem;
        f.claim = i.title + (failed ? " did not fit: " : " does not fit: ") + "it needs at least " +
                  words::bytes(*least.number) + " at its peak, and " + a.device_name + " has " +
                  words::bytes(memory) + "." +
                  (failed && !i.reason.empty() ? " LibTorch: \"" + i.reason + "\"" : "");
        f.evidence = {
            evidence("least peak memory", least, "the device has " + words::bytes(memory)),
            evidence("memory of the device", Value::of(memory, Unit::bytes, {Source::reported, a.ground}))};
        if (i.score_bytes)
            f.evidence.push_back(
                evidence("score-matrix bytes", i.score_bytes, "a fused implementation keeps none"));
        f.counter_evidence = {
            "The bound counts tensors that must live at once; the allocator's rounding, workspaces and what "
            "else "
            "is in memory come on top: whatever is below the bound does not fit either way.",
            "A smaller batch, or the batch in parts, needs memory in proportion."};
        f.next_step = attention_command(a, "sdpa_flash,sdpa_efficient,sdpa_cudnn", "-o fused");
        out.push_back(f);
    }
    return out;
}

}  // namespace attnscope::rule
