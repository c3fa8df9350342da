#include "all.h"
#include "analysis/models.h"
#include "support.h"

namespace attnscope::rule {

namespace {

std::string tera(const Value& roof) {
    return words::number(*roof.number / 1e12) + " TFLOP/s";
}

/// What each switch would change, by the same model as the rest.
void offer_switches(const Analysis& a, const Implementation& math, Finding& f) {
    std::string keep =
        "at::globalContext().setAllowFP16BF16ReductionMathSDP(true) (Python: "
        "torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)) keeps " +
        a.workload.dtype + ": no casts";
    std::string tf32 =
        "TF32 (torch.set_float32_matmul_precision(\"high\"), or torch.backends.cuda.matmul.allow_tf32 = "
        "True) "
        "puts the fp32 products on the Tensor Cores, with 10 bits of mantissa, and leaves bytes and casts as "
        "they are";
    const auto shape = shape_of(a.workload);
    if (shape && a.device && math.prediction.roof) {
        const Roofs roofs = roofs_of(*a.device, shape->dtype, a.ground);
        const Prediction reduced = predict(*shape, Method::math_reduced, roofs, a.ground);
        const double layers = a.workload.layer_count();
        if (reduced.score_bytes && math.score_bytes && reduced.roof) {
            const Value bytes = Value::of(*reduced.score_bytes.number * layers, Unit::bytes,
                                          reduced.score_bytes.provenance, reduced.score_bytes.formula);
            f.evidence.push_back(evidence("score-matrix bytes without the upcast", bytes,
                                          "with it " + words::bytes(*math.score_bytes.number)));
            keep += ", " + words::bytes(*bytes.number) + " of scores instead of " +
                    words::bytes(*math.score_bytes.number);
            f.evidence.push_back(
                evidence("roof of the products now", math.prediction.roof, math.prediction.roof_name));
            f.evidence.push_back(evidence("roof without the upcast", reduced.roof, reduced.roof_name));
            keep += ", products under a roof of " + tera(reduced.roof) + " instead of " +
                    tera(math.prediction.roof);
        }
        if (roofs.tf32) {
            f.evidence.push_back(evidence("roof with TF32", roofs.tf32, "TF32 tensor cores"));
            tf32 += ": a roof of " + tera(roofs.tf32);
        }
    }
    f.counter_evidence.push_back(keep + ".");
    f.counter_evidence.push_back(tf32 + ".");
}

}  // namespace

std::vector<Finding> math_upcast(const Analysis& a) {
    const Implementation* math = math_backend(a);
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
        "fp32 is there for accuracy: math is the reference that the others are compared with. Two switches "
        "trade it for speed.");
    offer_switches(a, *math, f);
    if (const std::string unknown = not_measured(a, "whether the products or the bytes cost more");
        !unknown.empty())
        f.counter_evidence.push_back(unknown);
    Analysis reduced = a;
    reduced.workload.reduced_math = true;
    f.next_step = attention_command(reduced, math->name, "-o reduced");
    return {f};
}

}  // namespace attnscope::rule
