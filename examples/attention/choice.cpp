#include "choice.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/native/transformers/cuda/sdp_utils.h>

#include <algorithm>

namespace attention {
namespace {

sdp::sdp_params parameters(const Inputs& in, const AttentionProblem& o) {
    std::optional<at::Tensor> mask;
    if (in.mask.defined()) mask = in.mask;
    return {in.query, in.key, in.value, mask, 0.0, o.causal, o.grouped()};
}

bool usable(const std::string& backend, const Inputs& in, const AttentionProblem& o) {
    const sdp::sdp_params p = parameters(in, o);
    if (backend == "flash") return sdp::can_use_flash_attention(p, true);
    if (backend == "efficient") return sdp::can_use_mem_efficient_attention(p, true);
    if (backend == "cudnn") return sdp::can_use_cudnn_attention(p, true);
    return true;  // math takes everything
}

}  // namespace

const char* backend_name(int64_t sdp_backend) {
    switch (sdp_backend) {
        case 0:
            return "math";
        case 1:
            return "flash";
        case 2:
            return "efficient";
        case 3:
            return "cudnn";
        case 4:
            return "overrideable";
    }
    return "none";
}

std::string refusal(const std::string& backend, const Inputs& in, const AttentionProblem& o) {
    WarningCollector warnings;
    if (usable(backend, in, o)) return {};
    std::string text = warnings.text();
    return text.empty() ? "refused, LibTorch gives no reason" : text;
}

nlohmann::json ask_choice(const Inputs& in, const AttentionProblem& o) {
    nlohmann::json choice;
    std::optional<at::Tensor> mask;
    if (in.mask.defined()) mask = in.mask;
    {
        WarningCollector quiet;
        choice["chosen"] = backend_name(at::_fused_sdp_choice(in.query, in.key, in.value, mask, 0.0, o.causal,
                                                              std::nullopt, o.grouped()));
    }
    // The order is settled by the first choice, so it is read after it.
    for (const at::SDPBackend backend : at::globalContext().sDPPriorityOrder())
        choice["order"].push_back(backend_name(static_cast<int64_t>(backend)));
    choice["refused"] = nlohmann::json::object();
    for (const char* backend : {"flash", "efficient", "cudnn"})
        if (std::string why = refusal(backend, in, o); !why.empty()) choice["refused"][backend] = why;
    return choice;
}

WarningCollector::WarningCollector()
    : before_(c10::WarningUtils::get_warning_handler()), always_before_(c10::WarningUtils::get_warnAlways()) {
    c10::WarningUtils::set_warning_handler(this);
    c10::WarningUtils::set_warnAlways(true);  // else a reason asked for twice is given once
}

WarningCollector::~WarningCollector() {
    c10::WarningUtils::set_warnAlways(always_before_);
    c10::WarningUtils::set_warning_handler(before_);
}

void WarningCollector::process(const c10::Warning& warning) {
    std::string sentence(warning.msg());
    // "... (Triggered internally at file:line.)" names LibTorch's source, not the user's cause.
    if (size_t at = sentence.find(" (Triggered internally"); at != std::string::npos) sentence.resize(at);
    if (std::find(sentences_.begin(), sentences_.end(), sentence) == sentences_.end())
        sentences_.push_back(sentence);
}

std::string WarningCollector::text() const {
    std::string all;
    for (const std::string& sentence : sentences_) all += (all.empty() ? "" : " ") + sentence;
    return all;
}

}  // namespace attention
