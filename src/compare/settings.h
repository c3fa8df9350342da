#pragma once
// What two runs were given and what they ran on.
#include "attnscope/compare.h"

namespace attnscope::comparing {

std::vector<Difference> input_differences(const Analysis& a, const Analysis& b);
std::vector<Difference> machine_differences(const Analysis& a, const Analysis& b);
std::vector<Difference> library_differences(const Analysis& a, const Analysis& b);

}  // namespace attnscope::comparing
