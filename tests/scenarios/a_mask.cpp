// Masking: out of place, expanded, repeated, padded.
#include <gtest/gtest.h>

#include "harness.h"

namespace attnscope::test {
namespace {

const std::vector<std::string> kSmall = {"--batch", "2", "--heads", "4", "--seq", "128", "--head-dim", "64"};

std::vector<std::string> small(std::vector<std::string> more) {
    std::vector<std::string> all = kSmall;
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// 2 x 4 x 128 x 128 scores of 2 bytes.
constexpr double kScoreMatrix = 262144;

double launches(const ScenarioRun& run, const std::string& name) {
    return implementation_of(run, name).launches.number.value_or(-1);
}

/// Traffic of the score matrix is read and write: twice its bytes for each step that works on it.
double score_bytes(const ScenarioRun& run, const std::string& name) {
    return implementation_of(run, name).score_bytes.number.value_or(-1);
}

TEST(MaskedFill, OutOfPlaceIsOneLaunchAndTwoScoreMatricesMore) {
    const ScenarioRun& run = scenario_run("virtual:A100-SXM4-80GB", small({"--only", "naive,naive_inplace"}));
    ASSERT_EQ(run.run.outcome.exit_code, 0) << run.run.outcome.err;
    EXPECT_EQ(launches(run, "naive") - launches(run, "naive_inplace"), 1);
    EXPECT_EQ(score_bytes(run, "naive") - score_bytes(run, "naive_inplace"), 2 * kScoreMatrix);
    EXPECT_EQ(implementation_of(run, "naive").device_copy_bytes.number, kScoreMatrix);
    expect_finding(run.findings,
                   {"masked-fill-copy", "naive", {{"device-to-device copy", kScoreMatrix}}, {}});
}

}  // namespace
}  // namespace attnscope::test
