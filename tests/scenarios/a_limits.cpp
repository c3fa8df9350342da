// Limits of grids, indices and memory, and library versions that are known to be wrong.
#include <gtest/gtest.h>

#include "harness.h"

namespace attnscope::test {
namespace {

class Limits : public testing::TestWithParam<Scenario> {};

TEST_P(Limits, AreNamedWithTheirNumber) {
    check(GetParam());
}

const Scenario kScenarios[] = {
    {12,
     "FlashCannotLaunchBatch65536",
     "virtual:H100-SXM5",
     {"--batch", "65536", "--heads", "1", "--seq", "16", "--head-dim", "8", "--warmup", "0", "--only",
      "sdpa_flash"},
     {{"launch-limit",
       "sdpa_flash",
       {{"batch", 65536}, {"beyond the limit", 1}},
       {"65,535 CTAs", "invalid configuration argument"}}},
     {"memory-predicted"},
     1},
    // LibTorch 2.11 splits it itself for efficient.
    {12,
     "EfficientIsSplit",
     "virtual:A100-SXM4-80GB",
     {"--batch", "65536", "--heads", "1", "--seq", "16", "--head-dim", "8", "--warmup", "0", "--only",
      "sdpa_efficient"},
     {},
     {"launch-limit"}},
    {12,
     "Batch65535Fits",
     "virtual:H100-SXM5",
     {"--batch", "65535", "--heads", "1", "--seq", "16", "--head-dim", "8", "--warmup", "0", "--only",
      "sdpa_flash"},
     {},
     {"launch-limit"}},
    // PyTorch issue 187227: with 73,728 rows the results are wrong from row 58,254 on.
    {13,
     "AMaskOf73728Rows",
     "virtual:H100-SXM5",
     {"--batch", "1", "--heads", "1", "--seq", "73728", "--head-dim", "8", "--no-causal", "--mask", "bool",
      "--warmup", "0", "--only", "sdpa_efficient"},
     {{"index-range",
       "sdpa_efficient",
       {{"queries x keys", 73728.0 * 73728}, {"first query with a wrong mask", 58254}},
       {"187227"}}},
     {}},
    {13,
     "AMaskOf65536RowsIsRight",
     "virtual:H100-SXM5",
     {"--batch", "1", "--heads", "1", "--seq", "65536", "--head-dim", "8", "--no-causal", "--mask", "bool",
      "--warmup", "0", "--only", "sdpa_efficient"},
     {},
     {"index-range"}},
    // Grouped heads and a head_dim above 256: math alone, 4 x 32 x 16384 x 16384 fp32 scores are 128 GiB.
    {28,
     "HeadDim288GroupedDoesNotFit",
     "virtual:A100-SXM4-80GB",
     {"--batch", "4", "--heads", "32", "--kv-heads", "8", "--seq", "16384", "--head-dim", "288", "--warmup",
      "0", "--only", "sdpa_auto"},
     {{"math-fallback", "sdpa_auto", {{"backends that refuse the call", 3}}, {"256"}},
      {"memory-predicted", "sdpa_auto", {}, {"out of memory"}}},
     {},
     1},
};

INSTANTIATE_TEST_SUITE_P(Public, Limits, testing::ValuesIn(kScenarios),
                         [](const auto& one) { return test_name(one.param); });

}  // namespace
}  // namespace attnscope::test
