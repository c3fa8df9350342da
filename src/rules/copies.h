#pragma once
// Copies among the launches, told by the LibTorch operation that made them: what was copied, and why.
#include <optional>
#include <vector>

#include "asked.h"

namespace attnscope::rule {

enum class CopyReason : uint8_t {
    layout,     ///< the same values in another order: contiguous, transposed
    dtype,      ///< a cast
    expansion,  ///< a view that repeats its values is written out
    plain,      ///< the same layout and type: a clone
};

struct Copy {
    const Step* step = nullptr;
    TensorInput to, from;
    CopyReason reason = CopyReason::plain;
    double written = 0;  ///< bytes, of all launches that the step stands for
};

/// Of a step under aten::copy_; nullopt: it is none, or its tensors were not recorded.
std::optional<Copy> copy_of(const Step& step);
std::vector<Copy> copies(const Implementation& implementation);

/// Under scaled_dot_product_attention or one of its backends.
bool inside_sdpa(const StepOrigin& origin);

/// "aten::contiguous": the outermost operation that is not the copy itself, or what stands around it.
std::string caller(const StepOrigin& origin);

/// Bytes of a tensor's elements, repeated ones included; nullopt: unknown type, or too many.
std::optional<double> tensor_bytes(const TensorInput& tensor);

/// Tensors among the inputs, by position.
std::vector<TensorInput> tensors(const std::vector<std::string>& inputs);

}  // namespace attnscope::rule
