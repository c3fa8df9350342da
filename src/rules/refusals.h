#pragma once
// LibTorch's reasons, in sentences.
#include <string>
#include <vector>

#include "attnscope/analysis.h"

namespace attnscope::rule {

/// `flash: "..."; would then be refused: "..."`.
std::string reasons(const AttentionChoice::Backend& backend);
/// Of the backends that a call was refused by, except `chosen`; in the order of priority.
std::vector<std::string> refusals(const AttentionChoice& choice);
/// The same of a run's mark, which holds one reason each.
std::vector<std::string> refusals(const Choice& choice);
/// Every other backend is switched off: the program asked for this one.
bool forced(const std::vector<std::string>& refusals);

}  // namespace attnscope::rule
