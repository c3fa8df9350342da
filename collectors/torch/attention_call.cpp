#include "attention_call.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "choice.h"
#include "signature.h"

namespace attnscope::libtorch {
namespace {

/// The call will be made again: by autocast with other dtypes, by a mode of Python's or functorch's with what
/// they make of it.
bool is_made_again() {
    using c10::DispatchKey;
    constexpr c10::DispatchKeySet again(
        {DispatchKey::Python, DispatchKey::PythonTLSSnapshot, DispatchKey::FuncTorchDynamicLayerFrontMode,
         DispatchKey::FuncTorchDynamicLayerBackMode, DispatchKey::Functionalize});
    const auto local = c10::impl::tls_local_dispatch_key_set();
    return (local.included_ - local.excluded_).has_any(again) || at::autocast::is_autocast_enabled(at::kCUDA);
}

bool usable(const c10::IValue& value) {
    return value.isTensor() && value.toTensor().defined() && is_plain(*value.unsafeToTensorImpl()) &&
           value.toTensor().is_cuda();
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> out;
    for (const std::string& text : texts) out.push_back(text.c_str());
    return out;
}

}  // namespace

uint64_t AttentionCall::read_settings() {
    const at::Context& context = at::globalContext();
    uint64_t switches = at::GradMode::is_enabled() ? 1 : 0;
    for (const bool on :
         {context.userEnabledFlashSDP(), context.userEnabledMemEfficientSDP(), context.userEnabledCuDNNSDP(),
          context.userEnabledMathSDP(), context.deterministicAlgorithms(),
          context.allowFP16BF16ReductionMathSDP(), is_made_again()})
        switches = switches << 1 | (on ? 1u : 0u);
    for (const at::SDPBackend backend : at::globalContext().sDPPriorityOrder())
        switches = switches << 3 | (static_cast<uint64_t>(backend) & 7);
    return switches;
}

void AttentionCall::tell_choice(const AttnscopeTorchSink& sink, uint32_t operation) const {
    const auto inputs = function_.inputs();
    // query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
    if (inputs.size() != 8 || is_made_again()) return;
    for (size_t i = 0; i < 3; ++i)
        if (!usable(inputs[i])) return;
    if (!inputs[4].isDouble() || !inputs[5].isBool() || !inputs[7].isBool()) return;
    AttentionArguments call;
    call.query = inputs[0].toTensor();
    call.key = inputs[1].toTensor();
    call.value = inputs[2].toTensor();
    if (inputs[3].isTensor() && inputs[3].toTensor().defined()) {
        if (!is_plain(*inputs[3].unsafeToTensorImpl())) return;
        call.mask = inputs[3].toTensor();
    }
    call.dropout = inputs[4].toDouble();
    call.causal = inputs[5].toBool();
    call.grouped = inputs[7].toBool();

    const at::RecordFunctionGuard unseen(false);
    const Choice answer = ask_choice(call);
    std::vector<std::vector<const char*>> texts;
    std::vector<std::vector<std::string>> hidden;
    std::vector<AttnscopeTorchBackend> backends;
    texts.reserve(3 * answer.backends.size());
    hidden.reserve(answer.backends.size());
    for (const BackendAnswer& backend : answer.backends) {
        auto& work = hidden.emplace_back();
        for (const HiddenWork& one : backend.hidden)
            work.push_back(one.code + ' ' + std::to_string(one.bytes));
        const auto& refused = texts.emplace_back(pointers(backend.refused));
        const auto& removed = texts.emplace_back(pointers(backend.removed));
        const auto& around = texts.emplace_back(pointers(work));
        backends.push_back({backend.name.c_str(), refused.data(), removed.data(), around.data(),
                            static_cast<uint32_t>(refused.size()), static_cast<uint32_t>(removed.size()),
                            static_cast<uint32_t>(around.size())});
    }
    const std::vector<const char*> order = pointers(answer.order);
    AttnscopeTorchChoice choice{};
    choice.size = sizeof choice;
    choice.operation = operation;
    choice.chosen = answer.chosen.c_str();
    choice.order = order.data();
    choice.order_count = static_cast<uint32_t>(order.size());
    choice.backends = backends.data();
    choice.backend_count = static_cast<uint32_t>(backends.size());
    sink.choice(sink.user, &choice);
}

}  // namespace attnscope::libtorch
