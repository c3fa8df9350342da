#include "copies.h"

namespace attnscope::rule {
namespace {

CopyReason reason_of(const TensorInput& to, const TensorInput& from) {
    if (to.dtype != from.dtype) return CopyReason::dtype;
    for (size_t i = 0; i < from.strides.size() && i < from.sizes.size(); ++i)
        if (from.strides[i] == 0 && from.sizes[i] > 1) return CopyReason::expansion;
    // A stride of a dimension of one element says nothing.
    for (size_t i = 0; i < from.strides.size() && i < to.strides.size(); ++i)
        if (from.sizes[i] > 1 && from.strides[i] != to.strides[i]) return CopyReason::layout;
    return CopyReason::plain;
}

}  // namespace

std::optional<double> tensor_bytes(const TensorInput& tensor) {
    const auto elements = tensor.elements();
    const uint32_t size = dtype_bytes(tensor.dtype);
    if (!elements || size == 0) return std::nullopt;
    return double(*elements) * size;
}

std::vector<TensorInput> tensors(const std::vector<std::string>& inputs) {
    std::vector<TensorInput> out;
    for (const std::string& input : inputs)
        if (auto tensor = tensor_input(input)) out.push_back(std::move(*tensor));
    return out;
}

std::optional<Copy> copy_of(const Step& step) {
    if (step.origin.operations.empty() || step.origin.operations.front() != "aten::copy_")
        return std::nullopt;
    auto both = tensors(step.origin.inputs);
    if (both.size() != 2 || both[0].sizes.size() != both[1].sizes.size()) return std::nullopt;
    // From or to the host it is a transfer, not an extra copy.
    if (both[0].device != "cuda" || both[1].device != "cuda") return std::nullopt;
    const auto bytes = tensor_bytes(both[0]);
    if (!bytes) return std::nullopt;
    Copy copy;
    copy.step = &step;
    copy.reason = reason_of(both[0], both[1]);
    copy.to = std::move(both[0]);
    copy.from = std::move(both[1]);
    copy.written = *bytes * double(step.times);
    return copy;
}

std::vector<Copy> copies(const Implementation& implementation) {
    std::vector<Copy> out;
    for (const Step& step : implementation.steps)
        if (auto copy = copy_of(step)) out.push_back(std::move(*copy));
    return out;
}

bool inside_sdpa(const StepOrigin& origin) {
    for (const std::string& operation : origin.operations)
        if (operation.find("scaled_dot_product") != std::string::npos) return true;
    return false;
}

std::string caller(const StepOrigin& origin) {
    return origin.operations.empty() ? std::string() : origin.operations.back();
}

}  // namespace attnscope::rule
