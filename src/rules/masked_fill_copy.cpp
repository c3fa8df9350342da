#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> masked_fill_copy(const Analysis& a) {
    const Implementation* out_of_place = a.find("naive");
    const auto scores = a.workload.score_elements();
    const auto size = a.workload.element_bytes();
    if (!out_of_place || !scores || !size) return {};
    const Step* copy = nullptr;
    for (const Step& step : out_of_place->steps)
        if (step.copy_kind == "DtoD" && step.bytes.number == *scores * *size) copy = &step;
    if (!copy) return {};
    Finding f;
    f.subject = out_of_place->title;
    f.severity = Severity::warning;
    f.claim =
        "Out-of-place masked_fill first copies the whole score matrix: " + words::bytes(*copy->bytes.number) +
        " from device to device, before a single score is masked.";
    f.evidence = {evidence(
        "device-to-device copy", copy->bytes,
        "the score matrix: " + words::number(*scores) + " scores x " + words::number(*size) + " bytes")};
    f.evidence.push_back(evidence("launches of " + out_of_place->title, out_of_place->launches));
    if (const Implementation* in_place = a.find("naive_inplace")) {
        f.evidence.push_back(evidence("launches of " + in_place->title, in_place->launches,
                                      "the same steps, masked in place"));
        f.evidence.push_back(evidence("peak memory of " + out_of_place->title, out_of_place->peak_memory));
        f.evidence.push_back(evidence("peak memory of " + in_place->title, in_place->peak_memory));
    }
    f.evidence.push_back(evidence("score-matrix bytes, whole implementation", out_of_place->score_bytes,
                                  "of them the copy: " + words::bytes(2 * *copy->bytes.number)));
    f.counter_evidence = {
        "The copy is right where the unmasked scores are used again (returned, or kept by autograd for "
        "another branch): in-place masking destroys them.",
        "masked_fill_ on a leaf that requires gradients, or on a view that autograd needs, is refused by "
        "LibTorch."};
    const bool ranges = !a.counters_range.empty() && a.counters_range != "kernel";
    bool counted = false;
    for (const Implementation* i : {out_of_place, a.find("naive_inplace")}) {
        const Value none;
        const Value& dram = i ? i->counter(counter_role::kDramBytes) : none;
        if (!dram) continue;
        counted = true;
        f.evidence.push_back(evidence("DRAM bytes of " + i->title + ", counted", dram,
                                      "score bytes by the model: " + words::say(i->score_bytes)));
    }
    if (counted && !ranges)
        f.counter_evidence.push_back(
            "The counted bytes are of the kernels alone: the copy is no kernel (--range implementation "
            "counts it).");
    if (const std::string unknown = not_measured(a, "how long the copy takes"); !unknown.empty())
        f.counter_evidence.push_back(unknown);
    f.next_step = attention_command(a, "naive,naive_inplace", "-o masked-fill");
    return {f};
}

}  // namespace attnscope::rule
