#include "choice.h"

namespace attnscope::libtorch {

std::vector<HiddenWork> hidden_work(const std::string&, const AttentionArguments&) {
    return {};
}

}  // namespace attnscope::libtorch
