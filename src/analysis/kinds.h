#pragma once
// What work a launch is, in the few words that pictures have room for.
#include "attnscope/analysis.h"

namespace attnscope::kinds {

inline constexpr const char* kOther = "other";
inline constexpr const char* kSeveral = "several kinds";  ///< launches that are drawn as one

/// In the order in which pictures name them.
const std::vector<std::string>& all();
const char* of(LaunchKind kind, Role role);
const char* of(const ModelKernel& kernel);

}  // namespace attnscope::kinds
