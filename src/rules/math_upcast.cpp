#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> math_upcast(const Analysis& a) {
    const Implementation* math = a.find("sdpa_math");
    if (!math || a.workload.element_bytes() != 2.0) return {};
    double products = 0, fp32_products = 0;
    std::string compute;
    for (const Step& step : math->steps) {
        if (step.role != Role::gemm || !step.call) continue;
        products += double(step.times);
        const std::string* type = step.call->attribute("type_a");
        if (!type || !fp32(*type)) continue;
        fp32_products += double(step.times);
        if (const std::string* c = step.call->attribute("compute_type")) compute = *c;
    }
    const double casts = count(*math, Role::cast_or_copy);
    // Without the calls' types (a real GPU has kernels instead) the casts alone tell it: three up, two down.
    if (fp32_products == 0 && (products > 0 || casts < 4)) return {};
    Finding f;
    f.subject = math->title;
    f.severity = Severity::warning;
    f.claim = "The math backend computes " + a.workload.dtype +
              " attention in fp32: " + words::plural(casts, "cast or copy kernel") +
              (fp32_products > 0 ? " around " + words::plural(fp32_products, "fp32 matrix product") +
                                       ". Those run on CUDA cores unless TF32 is allowed"
                                 : "") +
              ", and every score takes 4 bytes instead of 2.";
    f.evidence = {
        evidence("cast or copy kernels", exact(casts, Unit::count, a), "of the upcast itself: 3 up, 2 down")};
    if (fp32_products > 0)
        f.evidence.push_back(evidence("fp32 matrix products", exact(fp32_products, Unit::count, a),
                                      "of " + words::number(products) + " products" +
                                          (compute.empty() ? "" : ", compute type " + compute)));
    f.evidence.push_back(evidence("score-matrix bytes", math->score_bytes));
    f.evidence.push_back(evidence("peak memory", math->peak_memory));
    if (const Value& tensor = math->counter(counter_role::kTensorPipe)) {
        f.evidence.push_back(
            evidence("tensor pipe busy", tensor, "0: the products run off the Tensor Cores"));
        if (*tensor.number < 1)
            f.claim += " Its products run off the Tensor Cores: the tensor pipe is busy " +
                       words::say_with_ground(tensor) + " of the active cycles.";
        else
            f.counter_evidence.push_back("The tensor pipe is busy " + words::say_with_ground(tensor) +
                                         " of the active cycles: TF32 is allowed, or other kernels use it.");
    }
    f.counter_evidence.insert(
        f.counter_evidence.begin(),
        "fp32 is there for accuracy: math is the reference that the others are compared with. Where 16 bits "
        "are enough, at::globalContext().setAllowFP16BF16ReductionMathSDP(true) avoids it (Python: "
        "torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)).");
    if (const std::string unknown = not_measured(a, "whether the products or the bytes cost more");
        !unknown.empty())
        f.counter_evidence.push_back(unknown);
    f.next_step = attention_command(a, "sdpa_math,sdpa_flash,sdpa_efficient", "-o math");
    return {f};
}

}  // namespace attnscope::rule
