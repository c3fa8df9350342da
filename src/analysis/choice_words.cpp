#include "choice_words.h"

#include <algorithm>
#include <utility>

#include "attnscope/operation.h"
#include "words.h"

namespace attnscope::words {
namespace {

using Words = std::pair<const char*, const char*>;

constexpr Words kObstacles[] = {
    {"device", "with all tensors on the GPU"},
    {"rank", "with four dimensions"},
    {"mask", "without the mask"},
    {"dtype-bf16", "in bf16"},
    {"dtype-fp16", "in fp16"},
    {"head-dim", "with a head dimension of 64"},
    {"heads", "with as many key and value heads as query heads"},
    {"strides", "with dense tensors"},
    {"causal", "without is_causal"},
    {"dropout", "without dropout"},
    {"gradients", "without gradients"},
    {"length", "with longer sequences"},
};

constexpr Words kHiddenWork[] = {
    {"pad-head-dim", "query, key and value are copied to pad the head dimension to a multiple of 8"},
    {"convert-mask", "the boolean mask is converted to an additive one"},
    {"pad-mask", "the mask is copied to align its rows"},
    {"repeat-heads", "keys and values are repeated for each query head"},
    {"upcast", "query, key and value are copied to fp32"},
    {"causal-mask", "the causal mask is built"},
    {"contiguous", "tensors are copied to be contiguous"},
    {"downcast", "the output and the probabilities are converted back from fp32"},
};

// In the order of the operator's schema (native_functions.yaml), with the default of each.
constexpr Words kArguments[] = {
    {"query", ""},      {"key", ""},
    {"value", ""},      {"attn_mask", "none"},
    {"dropout_p", "0"}, {"is_causal", "false"},
    {"scale", "none"},  {"enable_gqa", "false"},
};
constexpr size_t kTensors = 3;

/// Dense, in the order of its dimensions.
bool is_dense(const TensorInput& tensor) {
    int64_t expected = 1;
    for (size_t i = tensor.sizes.size(); i-- > 0;) {
        if (tensor.sizes[i] != 1 && tensor.strides[i] != expected) return false;
        if (__builtin_mul_overflow(expected, tensor.sizes[i], &expected)) return false;
    }
    return true;
}

/// Strides only where they are not what the sizes say.
std::string tensor_words(const std::string& input) {
    const auto tensor = tensor_input(input);
    const size_t strides = input.find(" strides");
    if (!tensor || strides == std::string::npos || tensor->strides.size() != tensor->sizes.size() ||
        !is_dense(*tensor))
        return input;
    std::string text = input.substr(0, strides);
    if (tensor->device != "cuda") text += " on " + tensor->device;
    return text + (tensor->requires_grad ? " (requires_grad)" : "");
}

}  // namespace

std::string without_obstacle(const std::string& removed) {
    for (const auto& [code, text] : kObstacles)
        if (removed == code) return text;
    return "without: " + removed;
}

std::string hidden_work(const std::string& code) {
    for (const auto& [known, text] : kHiddenWork)
        if (code == known) return text;
    return code;
}

std::string attention_inputs(const std::vector<std::string>& inputs) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < std::min(kTensors, inputs.size());) {
        std::vector<std::string> names;
        const std::string& input = inputs[i];
        for (; i < std::min(kTensors, inputs.size()) && inputs[i] == input; ++i)
            names.emplace_back(kArguments[i].first);
        parts.push_back(join(names) + " " + tensor_words(input));
    }
    for (size_t i = kTensors; i < inputs.size(); ++i) {
        const bool known = i < std::size(kArguments);
        if (known && inputs[i] == kArguments[i].second) continue;
        const std::string name = known ? kArguments[i].first : "argument " + std::to_string(i + 1);
        parts.push_back(inputs[i] == "true" ? name : name + " " + tensor_words(inputs[i]));
    }
    return parts.empty() ? "inputs not recorded" : join(parts, ", ");
}

std::string backend_answer(const AttentionChoice::Backend& backend, const std::string& chosen) {
    std::string text;
    const auto sentence = [](std::string words) {
        while (!words.empty() && words.back() == '.') words.pop_back();
        return words;
    };
    if (backend.refused.empty()) {
        text = backend.name == chosen ? "chosen" : "would take it, were it asked first";
        const char* before = ". Around its kernel ";
        for (const auto& work : backend.hidden) {
            text += before + hidden_work(work.code) + ": " + bytes(double(work.bytes));
            before = "; ";
        }
        return text + ".";
    }
    text = "refused: " + sentence(backend.refused.front()) + ".";
    std::string condition;
    for (size_t i = 0; i < backend.removed.size(); ++i) {
        condition += (condition.empty() ? "" : ", ") + without_obstacle(backend.removed[i]);
        std::string next = condition + (i + 1 < backend.refused.size()
                                            ? " it would then be refused: " + sentence(backend.refused[i + 1])
                                            : std::string(" it would take the call"));
        text += " " + capital(next) + ".";
    }
    return text;
}

}  // namespace attnscope::words
