#pragma once
// What LibTorch itself says about the backends, as the workload's marks hold it.
#include <nlohmann/json.hpp>
#include <string>

#include "../../collectors/torch/choice.h"
#include "../../collectors/torch/warnings.h"
#include "implementations.h"

namespace attention {

using attnscope::libtorch::WarningCollector;

/// The record `attnscope.choice` of schema/README.md.
nlohmann::json ask_choice(const Inputs& inputs, const AttentionProblem& options);
/// Why this backend is refused, in LibTorch's words; empty when it is not.
std::string refusal(const std::string& backend, const Inputs& inputs, const AttentionProblem& options);

}  // namespace attention
