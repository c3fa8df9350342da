#pragma once
// What may stand in the way of an attention backend, and the same call without it.
#include <optional>

#include "choice.h"

namespace attnscope::libtorch {

struct Obstacle {
    const char* name;  ///< "mask", "head-dim" ...: schema/README.md
    /// The call without it, made of shadow tensors; nullopt where the call has no such thing.
    std::optional<AttentionArguments> (*without)(const AttentionArguments& call);
    bool is_type = false;  ///< another dtype is taken
};

const std::vector<Obstacle>& obstacles();

}  // namespace attnscope::libtorch
