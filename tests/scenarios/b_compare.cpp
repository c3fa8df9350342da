// The same call before and after: another backend, other kernels.
#include <gtest/gtest.h>

#include <cstdlib>

#include "attnscope/compare.h"
#include "harness.h"

namespace attnscope::test {
namespace {

using Words = std::vector<std::string>;

/// An environment variable for the runs of one test.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

Words one(const char* implementation, Words more = {}) {
    Words all = {"--batch", "2",          "--heads", "4",      "--seq",
                 "128",     "--head-dim", "64",      "--only", implementation};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// #138581, #138386: the same shape, and one version of LibTorch takes cuDNN, the other flash. Its own switch
// stands for the other version.
TEST(Compare, row_5_and_6_AnotherBackendForTheSameShape) {
    const ScenarioRun& cudnn = scenario_run("virtual:H100-SXM5", one("sdpa_auto"));
    ASSERT_EQ(cudnn.run.outcome.exit_code, 0) << cudnn.run.outcome.err;
    Variable behind("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1");
    const AttentionRun flash = attention("virtual:H100-SXM5", one("sdpa_auto"));
    ASSERT_EQ(flash.outcome.exit_code, 0) << flash.outcome.err;
    expect_finding(find_differences(compare(cudnn.run.analysis, flash.analysis)),
                   {"backend-changed", "sdpa_auto", {}, {"by flash in B, by cudnn in A"}});
    expect_silent(find_differences(compare(flash.analysis, flash.analysis)), "backend-changed");
}

// PR #128922, #135778: math before and after it computed in fp32.
TEST(Compare, row_2_OtherKernelsForTheSameCall) {
    const ScenarioRun& before =
        scenario_run("virtual:A100-SXM4-80GB", one("sdpa_math", {"--reduced-precision-math"}));
    const ScenarioRun& after = scenario_run("virtual:A100-SXM4-80GB", one("sdpa_math"));
    ASSERT_EQ(before.run.outcome.exit_code, 0) << before.run.outcome.err;
    ASSERT_EQ(after.run.outcome.exit_code, 0) << after.run.outcome.err;
    expect_finding(find_differences(compare(before.run.analysis, after.run.analysis)),
                   {"kernels-changed",
                    "sdpa_math",
                    {{"launches in A", 15},
                     {"launches in B", 20},
                     {"score bytes in A", 20.0 * 2 * 4 * 128 * 128},
                     {"score bytes in B", 44.0 * 2 * 4 * 128 * 128}},
                    {"launches 20 in B, 15 in A"}});
}

}  // namespace
}  // namespace attnscope::test
