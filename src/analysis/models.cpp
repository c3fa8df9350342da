#include "models.h"

#include <cmath>

#include "words.h"

namespace attnscope {
namespace {

constexpr const char* kNoShape = "the program did not mark its shape (attnscope.workload)";

bool is_fp32(const std::string& type) {
    for (const char* word : {"fp32", "f32", "float32", "CUDA_R_32F", "R_32F", "float", "32F"})
        if (type == word) return true;
    return false;
}

/// Math attention in 16 bits without the upcast (setAllowFP16BF16ReductionMathSDP): its products are seen not
/// to be fp32.
bool keeps_precision(const Implementation& implementation) {
    bool products = false;
    for (const Step& step : implementation.steps) {
        if (!step.call || step.role != Role::gemm) continue;
        const std::string* type = step.call->attribute("type_a");
        if (!type || is_fp32(*type)) return false;
        products = true;
    }
    return products;
}

/// Reads and writes of one score element, in bytes.
struct Traffic {
    double bytes = 0;
    std::string steps;
};

std::optional<Traffic> traffic(const Implementation& implementation, const Workload& w, double e,
                               double scores) {
    const std::string size = words::number(e);
    if (implementation.backend == "math") {
        const bool masked = w.masked();
        if (e == 4)
            return Traffic{masked ? 38.0 : 30.0, std::string("product w4") + (masked ? ", mask r4 w4" : "") +
                                                     ", softmax r4 w4, NaN guard r4 w1 r1 r4 w4, product r4"};
        if (keeps_precision(implementation))
            return Traffic{masked ? 20.0 : 16.0, std::string("product w2") + (masked ? ", mask r2 w2" : "") +
                                                     ", softmax r2 w2, NaN guard r2 w1 r1 r2 w2, product r2"};
        return Traffic{masked ? 44.0 : 36.0,
                       std::string("product w4") + (masked ? ", mask r4 w4" : "") +
                           ", softmax r4 w4, NaN guard r4 w1 r1 r4 w4, product r4, cast back r4 w2"};
    }
    if (implementation.name != "naive" && implementation.name != "naive_inplace") return std::nullopt;
    double units = 6;  // product w, scale r w, softmax r w, product r
    std::string steps = "product w" + size + ", scale r" + size + " w" + size;
    bool cloned = false;
    for (const Step& step : implementation.steps)
        cloned |= step.copy_kind == "DtoD" && step.bytes.number == scores * e;
    if (cloned) {
        units += 2;
        steps += ", copy r" + size + " w" + size;
    }
    if (w.masked()) {
        units += 2;
        steps += ", mask r" + size + " w" + size;
    }
    return Traffic{units * e, steps + ", softmax r" + size + " w" + size + ", product r" + size};
}

}  // namespace

Value least_bytes(const Workload& w, Ground ground) {
    const Provenance model{Source::model, ground};
    const auto e = w.element_bytes();
    if (!w.has_shape() || !e) return Value::missing(kNoShape, Unit::bytes, model);
    if (w.backward.value_or(false))
        return Value::missing("no model of the backward pass", Unit::bytes, model);
    const auto n = [](double value) { return words::number(value); };
    return Value::of(
        *e * *w.batch * *w.head_dim * (2 * *w.heads * *w.query_length + 2 * *w.kv_heads * *w.key_length),
        Unit::bytes, model,
        n(*e) + " bytes x " + n(*w.batch) + " batch x " + n(*w.head_dim) + " head_dim x (2 x " + n(*w.heads) +
            " heads x " + n(*w.query_length) + " queries + 2 x " + n(*w.kv_heads) + " KV heads x " +
            n(*w.key_length) + " keys): q, k, v read once, o written once");
}

Value attention_flops(const Workload& w, Ground ground) {
    const Provenance computed{Source::computed, ground};
    if (!w.has_shape() || !w.causal) return Value::missing(kNoShape, Unit::flop, computed);
    const auto n = [](double value) { return words::number(value); };
    double flops = 4 * *w.batch * *w.heads * *w.query_length * *w.key_length * *w.head_dim;
    std::string formula = "4 x " + n(*w.batch) + " x " + n(*w.heads) + " x " + n(*w.query_length) + " x " +
                          n(*w.key_length) + " x " + n(*w.head_dim);
    if (*w.causal) {
        flops /= 2;
        formula += " / 2 (causal: half of the square)";
    }
    if (w.backward.value_or(false)) {
        flops *= 3.5;
        formula += " x 3.5 (forward and backward of a fused kernel)";
    }
    return Value::of(flops, Unit::flop, computed, formula);
}

Value score_matrix_bytes(const Implementation& implementation, const Workload& w, Ground ground) {
    const Provenance model{Source::model, ground};
    if (implementation.status == ImplementationStatus::refused ||
        implementation.status == ImplementationStatus::failed)
        return Value::missing("it did not run", Unit::bytes, model);
    const auto scores = w.score_elements();
    const auto e = w.element_bytes();
    if (!scores || !e) return Value::missing(kNoShape, Unit::bytes, model);
    if (implementation.fused())
        return Value::of(0, Unit::bytes, model,
                         "0: scores live in registers and shared memory, tile by tile");
    if (w.backward.value_or(false))
        return Value::missing("no model of the backward pass", Unit::bytes, model);
    const auto moved = traffic(implementation, w, *e, *scores);
    if (!moved) return Value::missing("no model of this implementation", Unit::bytes, model);
    return Value::of(*scores * moved->bytes, Unit::bytes, model,
                     words::number(*scores) + " scores x " + words::number(moved->bytes) + " bytes (" +
                         moved->steps + ")");
}

}  // namespace attnscope
