#include "all.h"
#include "support.h"

namespace attnscope::rule {

std::vector<Finding> math_scaling(const Analysis& a) {
    const Implementation* math = math_backend(a);
    if (!math) return {};
    const double scales = count(*math, Role::scale);
    if (scales < 2) return {};
    Finding f;
    f.subject = math->title;
    f.severity = Severity::info;
    f.claim =
        "math multiplies q and k by the square root of the scale each, before their product, instead of "
        "the scores by the scale: " +
        words::plural(scales, "kernel") + " over q and k, none over the scores.";
    f.evidence = {evidence("scaling kernels", exact(scales, Unit::count, a), "q and k: 2"),
                  evidence("kernels of " + math->title, math->kernels)};
    for (const ModelKernel& kernel : math->prediction.kernels)
        if (kernel.name == "scale q, k")
            f.evidence.push_back(evidence("bytes that they read and write",
                                          Value::of((kernel.read + kernel.write) * a.workload.layer_count(),
                                                    Unit::bytes, {Source::model, a.ground},
                                                    words::number(kernel.read) + " + " +
                                                        words::number(kernel.write) + " of each attention")));
    f.counter_evidence = {
        "It is meant: sqrt(scale) on both sides keeps their products within the type's range. LibTorch's "
        "documentation writes it as one factor (PyTorch PR #163508); the result differs by rounding alone."};
    f.next_step = attention_command(a, math->name, "-o scaling");
    return {f};
}

}  // namespace attnscope::rule
