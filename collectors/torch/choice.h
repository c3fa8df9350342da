#pragma once
// What LibTorch itself says of its attention backends: which it chooses, in what order, why not the others,
// and what it does around their kernels. Nothing is run: questions with one obstacle less are asked with
// tensors that have sizes but no memory.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::libtorch {

/// The arguments of scaled_dot_product_attention that the choice depends on.
struct AttentionArguments {
    at::Tensor query, key, value;  ///< (batch, heads, length, head dim)
    std::optional<at::Tensor> mask;
    double dropout = 0;
    bool causal = false, grouped = false;  ///< is_causal, enable_gqa
};

struct HiddenWork {
    std::string code;    ///< schema/README.md
    uint64_t bytes = 0;  ///< what it allocates
};

struct BackendAnswer {
    std::string name;
    std::vector<std::string> refused;  ///< first the reason, then those with what `removed` names taken away
    std::vector<std::string> removed;
    std::vector<HiddenWork> hidden;
};

struct Choice {
    std::string chosen;  ///< "none" where no backend takes it
    std::vector<std::string> order;
    std::vector<BackendAnswer> backends;  ///< flash, efficient, cudnn, math
};

Choice ask_choice(const AttentionArguments& call);

/// LibTorch's sentences for refusing this backend ("flash"); empty when it takes the call.
std::string refusal(const std::string& backend, const AttentionArguments& call);

/// What scaled_dot_product_attention does around this backend's kernel, in its order. Empty too where the
/// tensors are none that it can be known of (nested, fewer than two dimensions, larger than an address
/// space).
std::vector<HiddenWork> hidden_work(const std::string& backend, const AttentionArguments& call);

/// A tensor on the current CUDA device with no memory behind it, to ask with. Strides: dense when not given.
at::Tensor shadow_tensor(at::IntArrayRef sizes, at::ScalarType type, bool requires_grad = false,
                         std::optional<at::IntArrayRef> strides = std::nullopt);

const char* backend_name(int64_t backend);  ///< at::SDPBackend -> "flash"

}  // namespace attnscope::libtorch
