#include "implementations.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <cmath>
#include <limits>

#include "../../collectors/torch/choice.h"

namespace attention {
namespace {

at::ScalarType scalar_type(const std::string& dtype) {
    if (dtype == "bf16") return at::kBFloat16;
    if (dtype == "fp16") return at::kHalf;
    return at::kFloat;
}

/// K and V repeated to the number of query heads, as hand-written attention does it.
at::Tensor repeat_heads(const at::Tensor& tensor, const AttentionProblem& o) {
    return o.grouped() ? tensor.repeat_interleave(o.heads / o.kv_heads, 1) : tensor;
}

/// The textbook: every step a kernel, the score matrix in device memory between them.
template <bool in_place>
at::Tensor naive(const Inputs& in, const AttentionProblem& o) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(o.head_dim));
    at::Tensor scores = at::matmul(in.query, repeat_heads(in.key, o).transpose(-2, -1));
    scores = scores * scale;
    if (in.hidden.defined()) {
        const double minus_infinity = -std::numeric_limits<double>::infinity();
        // The one difference between the two: out of place clones the score matrix before masking it.
        if constexpr (in_place)
            scores.masked_fill_(in.hidden, minus_infinity);
        else
            scores = scores.masked_fill(in.hidden, minus_infinity);
    } else if (in.mask.defined()) {
        if constexpr (in_place)
            scores.add_(in.mask);
        else
            scores = scores + in.mask;
    }
    at::Tensor weights = at::softmax(scores, -1);
    if (o.dropout > 0) weights = at::dropout(weights, o.dropout, true);
    return at::matmul(weights, repeat_heads(in.value, o));
}

at::Tensor sdpa(const Inputs& in, const AttentionProblem& o) {
    std::optional<at::Tensor> mask;
    if (in.mask.defined()) mask = in.mask;
    const auto repeated = [&](const at::Tensor& tensor) {
        return o.repeat_kv ? repeat_heads(tensor, o) : tensor;
    };
    return at::scaled_dot_product_attention(in.query, repeated(in.key), repeated(in.value), mask, o.dropout,
                                            o.causal, std::nullopt, o.enable_gqa());
}

at::Tensor random_heads(int64_t heads, int64_t length, const AttentionProblem& o) {
    const auto options = at::TensorOptions().device(at::kCUDA).dtype(scalar_type(o.dtype));
    const int64_t wide = o.head_dim * o.last_stride;
    at::Tensor tensor = o.transposed ? at::randn({o.batch, length, heads, wide}, options).transpose(1, 2)
                                     : at::randn({o.batch, heads, length, wide}, options);
    if (o.last_stride != 1) tensor = tensor.slice(-1, 0, wide, o.last_stride);
    return tensor.set_requires_grad(o.backward);
}

/// `copied`: a step before the attention makes a dense tensor of it.
at::Tensor shadow_heads(int64_t heads, int64_t length, bool copied, const AttentionProblem& o) {
    at::Tensor tensor = attnscope::libtorch::shadow_tensor({o.batch, heads, length, o.head_dim},
                                                           scalar_type(o.dtype), o.backward);
    if (copied || (!o.transposed && o.last_stride == 1)) return tensor;
    const int64_t wide = o.head_dim * o.last_stride;
    const std::vector<int64_t> strides = {length * heads * wide, o.transposed ? wide : length * wide,
                                          o.transposed ? heads * wide : wide, o.last_stride};
    return attnscope::libtorch::shadow_tensor({o.batch, heads, length, o.head_dim}, scalar_type(o.dtype),
                                              o.backward, strides);
}

void allow(bool flash, bool efficient, bool cudnn, bool math) {
    at::Context& context = at::globalContext();
    context.setSDPUseFlash(flash);
    context.setSDPUseMemEfficient(efficient);
    context.setSDPUseCuDNN(cudnn);
    context.setSDPUseMath(math);
}

}  // namespace

Inputs make_inputs(const AttentionProblem& o) {
    at::manual_seed(o.seed);
    Inputs in;
    in.query = random_heads(o.heads, o.query_length, o);
    in.key = random_heads(o.kv_heads, o.key_length, o);
    in.value = random_heads(o.kv_heads, o.key_length, o);
    const auto booleans = at::TensorOptions().device(at::kCUDA).dtype(at::kBool);
    // Upper-left aligned, as is_causal of SDPA is.
    if (o.causal) in.hidden = at::ones({o.query_length, o.key_length}, booleans).triu(1);
    if (o.mask != AttentionMask::none && o.mask != AttentionMask::additive) {
        in.mask = at::ones({o.query_length, o.key_length}, booleans).tril();
        in.hidden = in.mask.logical_not();
        if (o.mask == AttentionMask::expanded)
            in.mask = in.mask.expand({o.batch, o.heads, o.query_length, o.key_length});
        if (o.mask == AttentionMask::repeated) in.mask = in.mask.repeat({o.batch, o.heads, 1, 1});
    }
    if (o.mask == AttentionMask::additive)
        in.mask = at::zeros({o.query_length, o.key_length}, booleans.dtype(scalar_type(o.dtype)));
    if (o.backward)
        in.gradient =
            at::ones({o.batch, o.heads, o.query_length, o.head_dim}, booleans.dtype(scalar_type(o.dtype)));
    return in;
}

Inputs make_shadows(const AttentionProblem& o) {
    Inputs in;
    const bool repeated = o.repeat_kv && o.grouped(), copied = o.contiguous || repeated;
    in.query = shadow_heads(o.heads, o.query_length, o.contiguous, o);
    in.key = shadow_heads(repeated ? o.heads : o.kv_heads, o.key_length, copied, o);
    in.value = shadow_heads(repeated ? o.heads : o.kv_heads, o.key_length, copied, o);
    if (o.mask == AttentionMask::none) return in;
    const at::ScalarType type = o.mask == AttentionMask::additive ? scalar_type(o.dtype) : at::kBool;
    const std::vector<int64_t> whole = {o.batch, o.heads, o.query_length, o.key_length};
    const std::vector<int64_t> strides = {0, 0, o.key_length, 1};  // a shadow has no storage to expand
    using attnscope::libtorch::shadow_tensor;
    if (o.mask == AttentionMask::repeated)
        in.mask = shadow_tensor(whole, type);
    else if (o.mask == AttentionMask::expanded)
        in.mask = shadow_tensor(whole, type, false, strides);
    else
        in.mask = shadow_tensor({o.query_length, o.key_length}, type);
    return in;
}

const std::vector<Implementation>& implementations() {
    static const std::vector<Implementation> all = {
        {"naive", "", naive<false>},   {"naive_inplace", "", naive<true>},
        {"sdpa_math", "math", sdpa},   {"sdpa_efficient", "efficient", sdpa},
        {"sdpa_flash", "flash", sdpa}, {"sdpa_cudnn", "cudnn", sdpa},
        {"sdpa_auto", "auto", sdpa},
    };
    return all;
}

BackendGuard::BackendGuard(const std::string& backend) {
    if (backend.empty() || backend == "auto") return;
    allow(backend == "flash", backend == "efficient", backend == "cudnn", backend == "math");
}

BackendGuard::~BackendGuard() {
    allow(true, true, true, true);
}

}  // namespace attention
