#pragma once
// The inputs of a LibTorch operation, as a run holds them (schema/README.md, "Operations").
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// "bf16[8,16,1024,64] strides (1048576,65536,64,1) requires_grad"
struct TensorInput {
    std::string dtype;             ///< "bf16", "fp16", "fp32", "fp64", "int64", "bool" ...
    std::vector<int64_t> sizes;    ///< elements
    std::vector<int64_t> strides;  ///< elements; empty where LibTorch has none (nested, sparse)
    std::string device = "cuda";   ///< "cpu", "meta" ...
    bool requires_grad = false;

    bool operator==(const TensorInput&) const = default;
    /// nullopt when the product does not fit.
    std::optional<int64_t> elements() const;
};

/// nullopt when the text is no tensor.
std::optional<TensorInput> tensor_input(std::string_view text);

/// 2 for "bf16"; 0 for an unknown one.
uint32_t dtype_bytes(std::string_view dtype);

}  // namespace attnscope
