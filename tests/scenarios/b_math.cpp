// What the math backend costs beside what it need not cost.
#include <gtest/gtest.h>

#include "harness.h"

namespace attnscope::test {
namespace {

constexpr const char* kA100 = "virtual:A100-SXM4-80GB";
constexpr double kScores = 2.0 * 4 * 128 * 128;

std::vector<std::string> math(std::vector<std::string> more = {}) {
    std::vector<std::string> all = {"--batch", "2",          "--heads", "4",      "--seq",
                                    "128",     "--head-dim", "64",      "--only", "sdpa_math"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

class Math : public testing::TestWithParam<Scenario> {};

TEST_P(Math, IsExplainedWithNumbers) {
    check(GetParam());
}

const Scenario kScenarios[] = {
    // #141756: four times slower, because the products left the Tensor Cores.
    {1,
     "Fp32Upcast",
     kA100,
     math(),
     {{"math-upcast",
       "sdpa_math",
       {{"cast or copy kernels", 5},
        {"fp32 matrix products", 2},
        {"score-matrix bytes", 44 * kScores},
        {"score-matrix bytes without the upcast", 20 * kScores},
        {"roof of the products now", 1.95e13},
        {"roof without the upcast", 3.12e14},
        {"roof with TF32", 1.56e14}},
       {"setAllowFP16BF16ReductionMathSDP", "set_float32_matmul_precision"}},
      {"math-nan-guard",
       "sdpa_math",
       {{"kernels of the guard", 3}, {"score-matrix bytes of the guard", 14 * kScores}},
       {}}},
     {"low-occupancy-hurts", "launch-bound", "first-call", "above-the-roof"}},
    {1, "TheSwitchTakesItAway", kA100, math({"--reduced-precision-math"}), {}, {"math-upcast"}},
    {1, "Fp32InputsAreNoUpcast", kA100, math({"--dtype", "fp32"}), {}, {"math-upcast"}},
    // PR #163508: sqrt(scale) on q and on k, 65,536 elements each, read and written in fp32.
    {23,
     "TwoScalingKernelsAreMeant",
     kA100,
     math(),
     {{"math-scaling",
       "sdpa_math",
       {{"scaling kernels", 2}, {"bytes that they read and write", 2.0 * 2 * 65536 * 4}},
       {"PR #163508"}}},
     {}},
};
INSTANTIATE_TEST_SUITE_P(Rows, Math, testing::ValuesIn(kScenarios),
                         [](const auto& one) { return test_name(one.param); });

// PR #128922, issue #135778: the same call before and after, by its kernels.
TEST(Math, row_2_FiveCastsAndTwiceTheScoreBytes) {
    const Implementation before =
        implementation_of(scenario_run(kA100, math({"--reduced-precision-math"})), "sdpa_math");
    const Implementation after = implementation_of(scenario_run(kA100, math()), "sdpa_math");
    EXPECT_EQ(before.launches.number, 15.0);
    EXPECT_EQ(after.launches.number, 20.0);
    EXPECT_EQ(before.score_bytes.number, 20 * kScores);
    EXPECT_EQ(after.score_bytes.number, 44 * kScores);
    EXPECT_EQ(before.prediction.roof_name, "bf16 tensor cores");
    EXPECT_EQ(after.prediction.roof_name, "fp32 CUDA cores");
}

}  // namespace
}  // namespace attnscope::test
