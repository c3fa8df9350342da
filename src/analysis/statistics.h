#pragma once
#include <algorithm>
#include <vector>

namespace attnscope {

/// The q-quantile of sorted values, linear between neighbours. Not for an empty vector.
inline double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * double(sorted.size() - 1);
    const auto low = static_cast<size_t>(at);
    const size_t high = std::min(low + 1, sorted.size() - 1);
    return sorted[low] + (at - double(low)) * (sorted[high] - sorted[low]);
}

}  // namespace attnscope
