// The longest common subsequence against the textbook table, on random sequences.
#include "compare/align.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace attnscope::comparing {
namespace {

using Keys = std::vector<uint32_t>;

/// Below `most`.
class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    uint32_t below(uint32_t most) { return static_cast<uint32_t>(engine_() % most); }

  private:
    std::mt19937 engine_;
};

size_t textbook_length(const Keys& a, const Keys& b) {
    std::vector<std::vector<size_t>> t(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i < a.size(); ++i)
        for (size_t k = 0; k < b.size(); ++k)
            t[i + 1][k + 1] = a[i] == b[k] ? t[i][k] + 1 : std::max(t[i][k + 1], t[i + 1][k]);
    return t[a.size()][b.size()];
}

TEST(LongestCommon, IsCommonRisingAndLongest) {
    Random random(1);
    for (int round = 0; round < 2000; ++round) {
        const auto some = [&] {
            Keys out(random.below(24));
            for (uint32_t& key : out) key = random.below(1 + random.below(6));
            return out;
        };
        const Keys a = some(), b = some();
        const auto pairs = longest_common(a, b);
        ASSERT_EQ(pairs.size(), textbook_length(a, b));
        for (size_t i = 0; i < pairs.size(); ++i) {
            ASSERT_EQ(a.at(pairs[i].first), b.at(pairs[i].second));
            if (i > 0) {
                ASSERT_GT(pairs[i].first, pairs[i - 1].first);
                ASSERT_GT(pairs[i].second, pairs[i - 1].second);
            }
        }
    }
}

TEST(LongestCommon, OfNothingIsNothing) {
    EXPECT_TRUE(longest_common({}, {}).empty());
    EXPECT_TRUE(longest_common({1, 2}, {}).empty());
    EXPECT_TRUE(longest_common({}, {1, 2}).empty());
    EXPECT_TRUE(longest_common({1, 2}, {3}).empty());
}

// Not by position: one launch more at the beginning shifts all others.
TEST(LongestCommon, SeesAnInsertion) {
    using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
    EXPECT_EQ(longest_common({1, 2, 3}, {9, 1, 2, 3}), (Pairs{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(LongestCommon, BeyondTheLimitPairsTheEnds) {
    EXPECT_EQ(longest_common({1, 5, 6, 7, 2}, {1, 7, 6, 5, 2}, 8).size(), 2U);
    EXPECT_EQ(longest_common({1, 5, 6, 7, 2}, {1, 7, 6, 5, 2}, 9).size(), 3U);
}

TEST(LongestCommon, OfManyLaunchesTakesNoTableOfThem) {
    Keys a, b;
    Random random(2);
    for (int i = 0; i < 4000; ++i) {
        a.push_back(random.below(50));
        b.push_back(random.below(50));
    }
    EXPECT_GT(longest_common(a, b).size(), 800U);
}

}  // namespace
}  // namespace attnscope::comparing
