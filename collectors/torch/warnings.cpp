#include "warnings.h"

#include <algorithm>

namespace attnscope::libtorch {

void WarningCollector::process(const c10::Warning& warning) {
    std::string sentence(warning.msg());
    // "... (Triggered internally at file:line.)" names LibTorch's source, not the user's cause.
    if (const size_t at = sentence.find(" (Triggered internally"); at != std::string::npos)
        sentence.resize(at);
    if (std::find(sentences_.begin(), sentences_.end(), sentence) == sentences_.end())
        sentences_.push_back(std::move(sentence));
}

std::string WarningCollector::text() const {
    std::string all;
    for (const std::string& sentence : sentences_) all += (all.empty() ? "" : " ") + sentence;
    return all;
}

}  // namespace attnscope::libtorch
