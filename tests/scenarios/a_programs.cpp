// Other people's programs: Python that knows nothing of attnscope.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness.h"

namespace attnscope::test {
namespace {

class Programs : public testing::Test {
  protected:
    void SetUp() override {
        if (python().empty()) GTEST_SKIP() << "no Python with torch";
    }
};

TEST_F(Programs, row_41_WithoutMathNothingIsLeftForBf16OnAT4) {
    const ScenarioRun run = python_run("virtual:T4", "without_math.py", {"bf16", "plain"});
    EXPECT_EQ(run.run.outcome.exit_code, 1) << run.run.outcome.err;
    EXPECT_NE(run.run.outcome.err.find("No available kernel"), std::string::npos) << run.run.outcome.err;
    expect_finding(
        run.findings,
        {"no-backend", "", {{"compute capability", 7.5}}, {"flash: ", "efficient: ", "gpu architectures"}});
}

TEST_F(Programs, row_41_OnAnA100TheSameProgramRuns) {
    const ScenarioRun run = python_run("virtual:A100-SXM4-80GB", "without_math.py", {"bf16", "plain"});
    EXPECT_EQ(run.run.outcome.exit_code, 0) << run.run.outcome.err;
    expect_silent(run.findings, "no-backend");
    expect_silent(run.findings, "math-fallback");
}

TEST_F(Programs, row_32_MathMustNotRunAndDoesNot) {
    const ScenarioRun run = python_run("virtual:H100-SXM5", "without_math.py", {"bf16", "grouped"});
    EXPECT_EQ(run.run.outcome.exit_code, 1);
    expect_finding(
        run.findings,
        {"no-backend", "", {{"compute capability", 9.0}}, {"flash: ", "non-null attn_mask", "efficient: "}});
}

TEST_F(Programs, row_15_AStrideOfOneElementIsNoReason) {
    const ScenarioRun run = python_run("virtual:A100-SXM4-80GB", "strides.py", {"singleton"});
    ASSERT_EQ(run.run.outcome.exit_code, 0) << run.run.outcome.err;
    expect_silent(run.findings, "math-fallback");
    expect_silent(run.findings, "extra-copy");
}

TEST_F(Programs, row_15_ATransposedLastDimensionFallsToMath) {
    const ScenarioRun run = python_run("virtual:A100-SXM4-80GB", "strides.py", {"transposed"});
    ASSERT_EQ(run.run.outcome.exit_code, 0) << run.run.outcome.err;
    expect_finding(run.findings, {"math-fallback", "", {{"backends that refuse the call", 3}}, {"stride"}});
}

TEST_F(Programs, row_43_ALaunchThatFailsUnseen) {
    const ScenarioRun run = python_run(
        "virtual:A100-SXM4-80GB", "unchecked_launch.py",
        {std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/tests/binary/fixtures/kernels_sm_80.cubin"});
    EXPECT_EQ(run.run.outcome.exit_code, 0) << "the program noticed nothing\n" << run.run.outcome.err;
    // 65,535 CTAs along y were launched, 65,536 were not.
    expect_finding(
        run.findings,
        {"launch-failed", "", {{"launches that failed", 1}, {"kernels that ran", 1}}, {"CUDA error 1"}});
}

}  // namespace
}  // namespace attnscope::test
