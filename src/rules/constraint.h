#pragma once
// The numbers behind LibTorch's reason for refusing a backend.
#include <string>
#include <vector>

#include "asked.h"
#include "attnscope/report.h"

namespace attnscope::rule {

/// What the sentence is about, as evidence with the limit written out; empty where it has no number.
std::vector<Evidence> numbers_behind(const std::string& reason, const Asked& asked, const Analysis& analysis);

}  // namespace attnscope::rule
