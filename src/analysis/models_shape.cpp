// FLOPs and least bytes of a shape.
#include <algorithm>

#include "models_parts.h"
#include "words.h"

namespace attnscope {

using models::fits;
using models::n;

namespace models {

constexpr double kMost = 18446744073709551615.0;  // 2^64 - 1

std::string n(double value) {
    return words::number(value);
}

bool fits(double value) {
    return value >= 0 && value <= kMost;  // false for NaN
}

Value checked(double value, Unit unit, Provenance provenance, std::string formula) {
    if (!fits(value))
        return Value::missing("the shape overflows 64 bits: " + std::move(formula), unit, provenance);
    return Value::of(value, unit, provenance, std::move(formula));
}

double scores(const AttentionShape& s) {
    return s.batch * s.heads * s.query_length * s.key_length;
}

double query_elements(const AttentionShape& s) {
    return s.batch * s.heads * s.query_length * s.head_dim;
}

double key_elements(const AttentionShape& s) {
    return s.batch * s.kv_heads * s.key_length * s.head_dim;
}

double visible_share(const AttentionShape& s) {
    if (!s.causal || s.query_length <= 0 || s.key_length <= 0) return 1;
    const double full = std::max(0.0, s.query_length - s.key_length);  // queries that see every key
    const double rows = s.query_length - full;
    return (full * s.key_length + rows * (rows + 1) / 2) / (s.query_length * s.key_length);
}

}  // namespace models

std::optional<double> AttentionShape::element_bytes() const {
    if (dtype == "bf16" || dtype == "fp16") return 2;
    if (dtype == "fp32") return 4;
    return std::nullopt;
}

Value useful_flops(const AttentionShape& s, bool fused, Ground ground) {
    const Provenance computed{Source::computed, ground};
    double flops = 4 * models::scores(s) * s.head_dim;
    std::string formula = "4 x " + n(s.batch) + " x " + n(s.heads) + " x " + n(s.query_length) + " x " +
                          n(s.key_length) + " x " + n(s.head_dim);
    if (s.causal && s.query_length == s.key_length) {
        flops /= 2;
        formula += " / 2 (causal: half of the square)";
    } else if (s.causal) {
        flops *= models::visible_share(s);
        formula += " x " + n(models::visible_share(s)) + " (causal: query i sees the first i keys)";
    }
    if (s.pass != Pass::forward) {
        const double factor = (fused ? 2.5 : 2) + (s.pass == Pass::both ? 1 : 0);
        flops *= factor;
        formula += " x " + n(factor) + (s.pass == Pass::both ? " (forward and backward" : " (backward") +
                   (fused ? " of a fused kernel: 5 products, the scores computed again)"
                          : ": 4 products, the scores kept)");
    }
    return models::checked(flops, Unit::flop, computed, std::move(formula));
}

Value least_bytes(const AttentionShape& s, Ground ground) {
    const Provenance model{Source::model, ground};
    const auto e = s.element_bytes();
    if (!e) return Value::missing("no element size is known for dtype '" + s.dtype + "'", Unit::bytes, model);
    // Backward: q, do, dq and k, v, dk, dv once. An unfused one reads no o, a fused one no scores: neither is
    // counted.
    const double q_times = s.pass == Pass::forward ? 2 : s.pass == Pass::backward ? 3 : 5;
    const double k_times = s.pass == Pass::forward ? 2 : s.pass == Pass::backward ? 4 : 6;
    const double bytes = *e * (q_times * models::query_elements(s) + k_times * models::key_elements(s));
    return models::checked(
        bytes, Unit::bytes, model,
        n(*e) + " bytes x " + n(s.batch) + " batch x " + n(s.head_dim) + " head_dim x (" + n(q_times) +
            " x " + n(s.heads) + " heads x " + n(s.query_length) + " queries + " + n(k_times) + " x " +
            n(s.kv_heads) + " KV heads x " + n(s.key_length) + " keys): " +
            (s.pass == Pass::forward ? "q, k, v read once, o written once"
             : s.pass == Pass::backward
                 ? "q, k, v and o's gradient read once, the gradients of q, k, v written once"
                 : "forward: q, k, v, o; backward: q, k, v and o's gradient read, three gradients written"));
}

}  // namespace attnscope
