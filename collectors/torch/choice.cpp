#include "choice.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/transformers/cuda/sdp_utils.h>
#include <ATen/ops/_fused_sdp_choice_native.h>
#include <c10/core/Storage.h>
#include <c10/cuda/CUDAFunctions.h>

#include <algorithm>

#include "obstacles.h"
#include "warnings.h"

namespace attnscope::libtorch {
namespace {

bool can_use(const std::string& backend, const sdp::sdp_params& params) {
    if (backend == "flash") return sdp::can_use_flash_attention(params, true);
    if (backend == "efficient") return sdp::can_use_mem_efficient_attention(params, true);
    if (backend == "cudnn") return sdp::can_use_cudnn_attention(params, true);
    return true;  // the others take everything
}

/// What a sentence objects to, without what the call had: "... to have stride 1. Got Query.stride(-1): 2".
/// Two that differ in that part alone, or in numbers, name the same obstacle.
std::string objection(const std::string& sentence) {
    const size_t end = std::min(sentence.find(" Got "), sentence.find(" but got "));
    std::string out;
    for (const char c : sentence.substr(0, end))
        if (c < '0' || c > '9') out += c;
    return out;
}

/// nullopt too where no such tensor can be: sizes that were expanded, taken dense, can exceed 64 bits.
std::optional<AttentionArguments> take_away(const Obstacle& obstacle, const AttentionArguments& call) {
    try {
        return obstacle.without(call);
    } catch (const c10::Error&) {
        return std::nullopt;
    }
}

/// A type that is taken in place of the call's may be refused itself, before the old reason is reached: then
/// it was not the obstacle.
bool objects_to_the_change(const std::string& sentence, const Obstacle& changed) {
    return changed.is_type && sentence.find("dtype") != std::string::npos;
}

/// The same question with the last obstacle taken away: whichever change silences its sentence was it. So no
/// rule of LibTorch's is written down here.
void ask_further(BackendAnswer& answer, AttentionArguments call) {
    const auto& all = obstacles();
    std::vector<bool> used(all.size());
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < all.size() && !found; ++i) {
            if (used[i]) continue;
            const auto without = take_away(all[i], call);
            if (!without.has_value()) continue;
            const std::string sentence = refusal(answer.name, *without);
            if (objection(sentence) == objection(answer.refused.back()) ||
                objects_to_the_change(sentence, all[i]))
                continue;
            found = true;
            for (size_t k = 0; k < all.size(); ++k)  // one type, not one after the other
                if (k == i || (all[k].is_type && all[i].is_type)) used[k] = true;
            call = *without;
            answer.removed.push_back(all[i].name);
            if (sentence.empty()) return;
            answer.refused.push_back(sentence);
        }
    }
}

bool may_ask_further(const AttentionArguments& call) {
    for (const at::Tensor* tensor : {&call.query, &call.key, &call.value})
        if (tensor->is_nested() || tensor->layout() != c10::kStrided || tensor->dim() < 2) return false;
    return true;
}

std::string choose(const AttentionArguments& call) {
    WarningCollector quiet;
    try {
        // Not through the dispatcher: no mode of the program's may see the question.
        return backend_name(at::native::_fused_sdp_choice_cuda(call.query, call.key, call.value, call.mask,
                                                               call.dropout, call.causal, std::nullopt,
                                                               call.grouped));
    } catch (const c10::Error&) {
        return "none";
    }
}

}  // namespace

const char* backend_name(int64_t backend) {
    switch (static_cast<at::SDPBackend>(backend)) {
        case at::SDPBackend::math:
            return "math";
        case at::SDPBackend::flash_attention:
            return "flash";
        case at::SDPBackend::efficient_attention:
            return "efficient";
        case at::SDPBackend::cudnn_attention:
            return "cudnn";
        case at::SDPBackend::overrideable:
            return "overrideable";
        default:
            return "none";
    }
}

std::string refusal(const std::string& backend, const AttentionArguments& call) {
    if (backend == "math" && !at::globalContext().userEnabledMathSDP())
        return "The math backend has been runtime disabled.";
    WarningCollector warnings;
    try {
        if (can_use(backend,
                    {call.query, call.key, call.value, call.mask, call.dropout, call.causal, call.grouped}))
            return {};
    } catch (const c10::Error& e) {
        return e.what_without_backtrace();
    }
    std::string text = warnings.text();
    return text.empty() ? "refused, LibTorch gives no reason" : text;
}

Choice ask_choice(const AttentionArguments& call) {
    Choice choice;
    choice.chosen = choose(call);
    // The order is settled by the first choice, so it is read after it.
    for (const at::SDPBackend backend : at::globalContext().sDPPriorityOrder())
        choice.order.push_back(backend_name(static_cast<int64_t>(backend)));
    for (const char* name : {"flash", "efficient", "cudnn", "math"}) {
        BackendAnswer& answer = choice.backends.emplace_back();
        answer.name = name;
        if (std::string why = refusal(name, call); !why.empty()) {
            answer.refused.push_back(std::move(why));
            if (answer.name != "math" && may_ask_further(call)) ask_further(answer, call);
        } else {
            answer.hidden = hidden_work(name, call);
        }
    }
    return choice;
}

at::Tensor shadow_tensor(at::IntArrayRef sizes, at::ScalarType type, bool requires_grad,
                         std::optional<at::IntArrayRef> strides) {
    const c10::Device device(c10::DeviceType::CUDA, c10::cuda::current_device());
    c10::Storage storage(c10::Storage::use_byte_size_t(), 0, c10::DataPtr(nullptr, device));
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), c10::scalarTypeToTypeMeta(type));
    if (strides.has_value())
        tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, *strides);
    else
        tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    if (requires_grad) tensor.set_requires_grad(true);
    return tensor;
}

}  // namespace attnscope::libtorch
