#pragma once
// Longest common subsequence.
#include <cstdint>
#include <utility>
#include <vector>

namespace attnscope::comparing {

/// Index pairs of equal elements, both rising; as many as there can be. Equal beginnings and ends are always
/// paired; what is between them only if its lengths' product is at most `most_cells` (time; memory is
/// linear).
std::vector<std::pair<uint32_t, uint32_t>> longest_common(const std::vector<uint32_t>& a,
                                                          const std::vector<uint32_t>& b,
                                                          double most_cells = 1e9);

}  // namespace attnscope::comparing
