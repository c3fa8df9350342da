#include "refusals.h"

#include <algorithm>

namespace attnscope::rule {
namespace {

/// LibTorch ends some of its sentences, and others not.
std::string sentence(std::string text) {
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    return "\"" + text + "\"";
}

}  // namespace

std::string reasons(const AttentionChoice::Backend& backend) {
    if (backend.refused.empty()) return {};
    std::string text = backend.name + ": " + sentence(backend.refused[0]);
    for (size_t i = 1; i < backend.refused.size(); ++i)
        text += (i == 1 ? "; without that it would then be refused: " : ", ") + sentence(backend.refused[i]);
    return text;
}

std::vector<std::string> refusals(const AttentionChoice& choice) {
    std::vector<std::string> out;
    for (const std::string& name : choice.order)
        for (const AttentionChoice::Backend& backend : choice.backends)
            if (backend.name == name && name != choice.chosen && !backend.refused.empty())
                out.push_back(reasons(backend));
    return out;
}

std::vector<std::string> refusals(const Choice& choice) {
    std::vector<std::string> out;
    for (const auto& [name, reason] : choice.refused)
        if (name != choice.chosen) out.push_back(name + ": " + sentence(reason));
    return out;
}

bool forced(const std::vector<std::string>& refusals) {
    return !refusals.empty() && std::all_of(refusals.begin(), refusals.end(), [](const std::string& text) {
        return text.find("runtime disabled") != std::string::npos ||
               text.find("user disabled") != std::string::npos;
    });
}

}  // namespace attnscope::rule
