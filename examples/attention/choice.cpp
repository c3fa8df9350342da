#include "choice.h"

namespace attention {
namespace {

attnscope::libtorch::AttentionArguments arguments(const Inputs& in, const AttentionProblem& o) {
    attnscope::libtorch::AttentionArguments call;
    call.query = in.query;
    call.key = in.key;
    call.value = in.value;
    if (in.mask.defined()) call.mask = in.mask;
    call.causal = o.causal;
    call.grouped = o.enable_gqa();
    call.dropout = o.dropout;
    return call;
}

}  // namespace

nlohmann::json ask_choice(const Inputs& in, const AttentionProblem& o) {
    const attnscope::libtorch::Choice answer = attnscope::libtorch::ask_choice(arguments(in, o));
    nlohmann::json choice = {{"chosen", answer.chosen},
                             {"order", answer.order},
                             {"refused", nlohmann::json::object()},
                             {"backends", nlohmann::json::array()}};
    for (const attnscope::libtorch::BackendAnswer& backend : answer.backends) {
        nlohmann::json hidden = nlohmann::json::array();
        for (const attnscope::libtorch::HiddenWork& work : backend.hidden)
            hidden.push_back({{"code", work.code}, {"bytes", work.bytes}});
        choice["backends"].push_back({{"name", backend.name},
                                      {"refused", backend.refused},
                                      {"removed", backend.removed},
                                      {"hidden", hidden}});
        if (!backend.refused.empty()) choice["refused"][backend.name] = backend.refused.front();
    }
    return choice;
}

std::string refusal(const std::string& backend, const Inputs& in, const AttentionProblem& o) {
    return attnscope::libtorch::refusal(backend, arguments(in, o));
}

}  // namespace attention
