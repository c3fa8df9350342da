// Grids and GPUs that do not fit each other; the convention of FLOPs.
#include <gtest/gtest.h>

#include "harness.h"

namespace attnscope::test {
namespace {

constexpr const char* kA100 = "virtual:A100-SXM4-80GB";
using Words = std::vector<std::string>;

class Grids : public testing::TestWithParam<Scenario> {};

TEST_P(Grids, AreExplainedWithNumbers) {
    check(GetParam());
}

const Scenario kScenarios[] = {
    // flash-attention #1029, #609: 2 heads x 1 tile of 128 queries are 2 CTAs for 108 SMs.
    {35,
     "TwoCtasForAWholeGpu",
     kA100,
     {"--batch", "1", "--heads", "2", "--seq", "128", "--head-dim", "64", "--only", "sdpa_flash"},
     {{"few-ctas",
       "sdpa_flash",
       {{"CTAs of the grid", 2}, {"waves", 2.0 / 216}, {"SMs without a CTA", 106}},
       {"stand idle"}}},
     {"partial-last-wave", "split-kv"}},
    // 256 CTAs in 216 places: 40 of them wait for the second wave.
    {35,
     "ALastWaveOfFortyCtas",
     kA100,
     {"--batch", "2", "--heads", "16", "--seq", "1024", "--head-dim", "64", "--only", "sdpa_flash"},
     {{"partial-last-wave",
       "sdpa_flash",
       {{"CTAs of the grid", 256}, {"waves", 256.0 / 216}, {"places used over all waves", 100 * 256.0 / 432}},
       {"40 CTAs are left for 216 places"}}},
     {"few-ctas"}},
    {35,
     "AFullGridIsSilent",
     kA100,
     {"--batch", "8", "--heads", "16", "--seq", "1024", "--head-dim", "64", "--only", "sdpa_flash"},
     {},
     {"few-ctas", "partial-last-wave", "split-kv", "low-occupancy-hurts", "achieved-below-theoretical",
      "redundant-dram", "l2-bound", "exponentials-limiting", "launch-bound", "first-call", "above-the-roof",
      "faster-backend", "more-occupancy-less-speed", "math-upcast", "math-nan-guard", "math-scaling"}},
    // 16 exponentials a clock and SM: at head_dim 64 nearly as long as an H100's products, on an A100 half.
    {35,
     "ExponentialsOnAnH100",
     "virtual:H100-SXM5",
     {"--batch", "8", "--heads", "16", "--seq", "1024", "--head-dim", "64", "--only", "sdpa_flash"},
     {{"exponentials-limiting",
       "sdpa_flash",
       {{"exponentials / products",
         100 * (67108864 / (16 * 132 * 1.98e9)) / (4.0 * 8 * 16 * 1024 * 1024 * 64 / 2 / 9.894e14)}},
       {}}},
     {"few-ctas", "partial-last-wave"}},
};
INSTANTIATE_TEST_SUITE_P(Rows, Grids, testing::ValuesIn(kScenarios),
                         [](const auto& one) { return test_name(one.param); });

// One query of one sequence: without splitting 8 CTAs, so LibTorch splits the keys and merges the parts.
TEST(Grids, row_35_DecodingSplitsTheKeys) {
    const ScenarioRun& run =
        scenario_run(kA100, {"--batch", "1", "--heads", "8", "--seq", "1", "--key-length", "8192",
                             "--head-dim", "64", "--no-causal", "--only", "sdpa_flash"});
    ASSERT_EQ(run.run.outcome.exit_code, 0) << run.run.outcome.err;
    const Implementation& flash = implementation_of(run, "sdpa_flash");
    EXPECT_EQ(flash.launches.number, 2.0);
    const Step& split = flash.steps.front();
    ASSERT_TRUE(split.grid.has_value());
    const double parts = (*split.grid)[1];
    EXPECT_GT(parts, 1);
    expect_finding(run.findings, {"split-kv",
                                  "sdpa_flash",
                                  {{"splits", parts},
                                   {"CTAs of the grid", 8 * parts},
                                   {"CTAs without splitting", 8},
                                   {"kernels that merge", 1}},
                                  {}});
}

// flash-attention #1345, modular #5557: the convention is said with the number, and causal is half.
TEST(Flops, row_36_CausalIsHalfAndSaysSo) {
    const Words shape = {"--batch", "2",          "--heads", "4",      "--seq",
                         "256",     "--head-dim", "64",      "--only", "sdpa_flash"};
    Words square = shape;
    square.push_back("--no-causal");
    const Value causal = implementation_of(scenario_run(kA100, shape), "sdpa_flash").flops;
    const Value full = implementation_of(scenario_run(kA100, square), "sdpa_flash").flops;
    EXPECT_EQ(full.number, 4.0 * 2 * 4 * 256 * 256 * 64);
    EXPECT_EQ(causal.number, *full.number / 2);
    EXPECT_NE(causal.formula.find("causal: half of the square"), std::string::npos) << causal.formula;
    // A kernel works in whole tiles of 128 x 128: 3 of 4 are visited.
    const Value& executed =
        implementation_of(scenario_run(kA100, shape), "sdpa_flash").prediction.executed_flops;
    EXPECT_EQ(executed.number, *full.number * 3 / 4) << executed.formula << executed.absent;
}

}  // namespace
}  // namespace attnscope::test
