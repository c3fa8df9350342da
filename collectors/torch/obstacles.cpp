#include "obstacles.h"

#include <algorithm>

namespace attnscope::libtorch {
namespace {

using Call = AttentionArguments;
using Sizes = std::vector<int64_t>;

at::Tensor resized(const at::Tensor& tensor, at::IntArrayRef sizes) {
    return shadow_tensor(sizes, tensor.scalar_type(), tensor.requires_grad());
}

/// `change(sizes)` on the sizes of query, key and value; the mask is made to fit.
template <class Change>
std::optional<Call> with_sizes(const Call& call, Change change) {
    Call without = call;
    bool changed = false;
    for (at::Tensor Call::*which : {&Call::query, &Call::key, &Call::value}) {
        const at::Tensor& tensor = call.*which;
        Sizes sizes = tensor.sizes().vec();
        change(sizes, which == &Call::query);
        if (at::IntArrayRef(sizes) == tensor.sizes()) continue;
        without.*which = resized(tensor, sizes);
        changed = true;
    }
    if (!changed) return std::nullopt;
    if (call.mask.has_value() && without.query.dim() >= 2 && without.key.dim() >= 2)
        without.mask = resized(*call.mask, {without.query.size(-2), without.key.size(-2)});
    return without;
}

std::optional<Call> on_the_gpu(const Call& call) {
    Call without = call;
    bool changed = false;
    const auto move = [&](at::Tensor& tensor) {
        if (tensor.is_cuda()) return;
        tensor =
            shadow_tensor(tensor.sizes(), tensor.scalar_type(), tensor.requires_grad(), tensor.strides());
        changed = true;
    };
    for (at::Tensor Call::*which : {&Call::query, &Call::key, &Call::value}) move(without.*which);
    if (without.mask.has_value()) move(*without.mask);
    return changed ? std::optional(without) : std::nullopt;
}

std::optional<Call> four_dimensions(const Call& call) {
    return with_sizes(call, [](Sizes& sizes, bool) {
        while (sizes.size() > 4) {
            sizes[1] *= sizes[0];
            sizes.erase(sizes.begin());
        }
        if (sizes.size() < 4) sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
    });
}

std::optional<Call> no_mask(const Call& call) {
    if (!call.mask.has_value()) return std::nullopt;
    Call without = call;
    without.mask.reset();
    return without;
}

template <at::ScalarType type>
std::optional<Call> in_type(const Call& call) {
    Call without = call;
    bool changed = false;
    const auto convert = [&](at::Tensor& tensor) {
        if (tensor.scalar_type() == type) return;
        tensor = shadow_tensor(tensor.sizes(), type, tensor.requires_grad(), tensor.strides());
        changed = true;
    };
    for (at::Tensor Call::*which : {&Call::query, &Call::key, &Call::value}) convert(without.*which);
    if (changed && without.mask.has_value() && without.mask->scalar_type() != at::kBool)
        convert(*without.mask);
    return changed ? std::optional(without) : std::nullopt;
}

std::optional<Call> head_dim_64(const Call& call) {
    return with_sizes(call, [](Sizes& sizes, bool) {
        if (!sizes.empty()) sizes.back() = 64;
    });
}

/// As many key and value heads as the query has, and one batch size.
std::optional<Call> all_heads(const Call& call) {
    if (call.query.dim() != 4) return std::nullopt;
    const int64_t batch = call.query.size(0), heads = call.query.size(1);
    auto without = with_sizes(call, [&](Sizes& sizes, bool) {
        if (sizes.size() != 4) return;
        sizes[0] = batch;
        sizes[1] = heads;
    });
    if (without.has_value()) without->grouped = false;
    return without;
}

std::optional<Call> not_causal(const Call& call) {
    if (!call.causal) return std::nullopt;
    Call without = call;
    without.causal = false;
    return without;
}

std::optional<Call> dense(const Call& call) {
    Call without = call;
    bool changed = false;
    const auto pack = [&](at::Tensor& tensor) {
        at::Tensor packed = resized(tensor, tensor.sizes());
        if (packed.strides() == tensor.strides()) return;
        tensor = std::move(packed);
        changed = true;
    };
    for (at::Tensor Call::*which : {&Call::query, &Call::key, &Call::value}) pack(without.*which);
    if (without.mask.has_value()) pack(*without.mask);
    return changed ? std::optional(without) : std::nullopt;
}

std::optional<Call> no_dropout(const Call& call) {
    if (call.dropout <= 0) return std::nullopt;
    Call without = call;
    without.dropout = 0;
    return without;
}

std::optional<Call> no_gradients(const Call& call) {
    Call without = call;
    bool changed = false;
    const auto detach = [&](at::Tensor& tensor) {
        if (!tensor.requires_grad()) return;
        tensor = shadow_tensor(tensor.sizes(), tensor.scalar_type(), false, tensor.strides());
        changed = true;
    };
    for (at::Tensor Call::*which : {&Call::query, &Call::key, &Call::value}) detach(without.*which);
    if (without.mask.has_value()) detach(*without.mask);
    return changed ? std::optional(without) : std::nullopt;
}

std::optional<Call> longer(const Call& call) {
    return with_sizes(call, [](Sizes& sizes, bool) {
        if (sizes.size() >= 2 && sizes[sizes.size() - 2] < 2) sizes[sizes.size() - 2] = 64;
    });
}

}  // namespace

const std::vector<Obstacle>& obstacles() {
    static const auto* all = new std::vector<Obstacle>{
        {"device", on_the_gpu},
        {"rank", four_dimensions},
        {"mask", no_mask},
        {"dtype-bf16", in_type<at::kBFloat16>, true},
        {"dtype-fp16", in_type<at::kHalf>, true},
        {"head-dim", head_dim_64},
        {"heads", all_heads},
        {"strides", dense},
        {"causal", not_causal},
        {"dropout", no_dropout},
        {"gradients", no_gradients},
        {"length", longer},
    };
    return *all;
}

}  // namespace attnscope::libtorch
