#pragma once
// attnscope attention --why: what LibTorch chooses for one attention problem, and why not the others.
#include <nlohmann/json.hpp>
#include <string>

#include "attnscope/run.h"

namespace attnscope::cli {

/// The workload's answer: `problem` and `choice` are the marks attnscope.workload and attnscope.choice of
/// schema/README.md, `device`, `ground` and `torch` what they hold for. Throws Error when the run has none.
nlohmann::json why_json(const Run& run);
std::string why_text(const nlohmann::json& why, size_t width);

}  // namespace attnscope::cli
