// Masking out of place, and masks that are expanded, repeated, converted or padded.
#include <gtest/gtest.h>

#include "harness.h"

namespace attnscope::test {
namespace {

using Words = std::vector<std::string>;

// 2 x 8 x 128 x 128 scores of 2 bytes.
constexpr double kScores = 2.0 * 8 * 128 * 128;
constexpr double kScoreMatrix = 2 * kScores;

Words shape(Words more) {
    Words all = {"--batch", "2", "--heads", "8", "--seq", "128", "--head-dim", "64"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

double launches(const ScenarioRun& run, const std::string& name) {
    return implementation_of(run, name).launches.number.value_or(-1);
}

double copied(const ScenarioRun& run, const std::string& name) {
    return implementation_of(run, name).device_copy_bytes.number.value_or(-1);
}

double score_bytes(const ScenarioRun& run, const std::string& name) {
    return implementation_of(run, name).score_bytes.number.value_or(-1);
}

/// As LibTorch's allocator reported it; never a model's.
double peak(const ScenarioRun& run, const std::string& name) {
    const Value& value = implementation_of(run, name).peak_memory;
    EXPECT_EQ(value.provenance.source, Source::reported);
    return value.number.value_or(-1);
}

const ScenarioRun& both(Words more) {
    more.insert(more.end(), {"--only", "naive,naive_inplace"});
    return scenario_run("virtual:A100-SXM4-80GB", shape(more));
}

TEST(MaskedFill, OutOfPlaceIsOneLaunchAndTwoScoreMatricesMore) {
    const ScenarioRun& run = both({});
    ASSERT_EQ(run.run.outcome.exit_code, 0) << run.run.outcome.err;
    EXPECT_EQ(launches(run, "naive") - launches(run, "naive_inplace"), 1);
    EXPECT_EQ(copied(run, "naive"), kScoreMatrix);
    EXPECT_EQ(copied(run, "naive_inplace"), 0);
    // The copy reads and writes the matrix once.
    EXPECT_EQ(score_bytes(run, "naive") - score_bytes(run, "naive_inplace"), 2 * kScoreMatrix);
    expect_finding(run.findings,
                   {"masked-fill-copy", "naive", {{"device-to-device copy", kScoreMatrix}}, {}});
}

TEST(MaskedFill, TwelveLayersPayTwelveTimes) {
    const ScenarioRun& run = both({"--layers", "12"});
    ASSERT_EQ(run.run.outcome.exit_code, 0) << run.run.outcome.err;
    EXPECT_EQ(launches(run, "naive") - launches(run, "naive_inplace"), 12);
    EXPECT_EQ(copied(run, "naive"), 12 * kScoreMatrix);
    EXPECT_EQ(copied(run, "naive_inplace"), 0);
    EXPECT_EQ(score_bytes(run, "naive") - score_bytes(run, "naive_inplace"), 12 * 2 * kScoreMatrix);
}

/// What the allocator must hold at the peak of one forward, beside the inputs: nothing here is assumed, each
/// case is what it reported.
TEST(MaskedFill, PeakMemoryIsWhatTheAllocatorRecorded) {
    const ScenarioRun& forward = both({});
    const ScenarioRun& backward = both({"--backward"});
    ASSERT_EQ(backward.run.outcome.exit_code, 0) << backward.run.outcome.err;
    for (const ScenarioRun* run : {&forward, &backward})
        for (const char* name : {"naive", "naive_inplace"}) EXPECT_GT(peak(*run, name), 2 * kScoreMatrix);
    // Without autograd the unmasked scores die when the masked ones are made: out of place the two live at
    // once, but so do scores and weights in the softmax that follows either way.
    EXPECT_EQ(peak(forward, "naive"), peak(forward, "naive_inplace"));
    EXPECT_GT(peak(backward, "naive"), peak(forward, "naive"));
    EXPECT_GT(peak(backward, "naive_inplace"), peak(forward, "naive_inplace"));
}

class Masks : public testing::TestWithParam<Scenario> {};

TEST_P(Masks, CostWhatTheyCost) {
    check(GetParam());
}

const Scenario kScenarios[] = {
    // 125 columns are padded to 128: 128 x 128 x 2 bytes, after 128 x 125 x 2 for the conversion. Launched
    // are: two
    // scalars, where, and to pad a fill and a copy.
    {16,
     "RowsOf125ArePaddedTo128",
     "virtual:A100-SXM4-80GB",
     {"--batch", "2", "--heads", "8", "--query-length", "128", "--key-length", "125", "--no-causal", "--mask",
      "bool", "--only", "sdpa_efficient"},
     {{"mask-conversion",
       "sdpa_efficient",
       {{"bytes of the padded mask", 128 * 128 * 2},
        {"keys", 125},
        {"elements converted", 128 * 125},
        {"bytes that the conversion allocates", 128 * 125 * 2 + 128 * 128 * 2},
        {"launches of the conversion", 5}},
       {"padded to 128"}}},
     {}},
    // A mask that is expanded to every batch element and head is 16,384 values in memory, and 16 times that
    // for the kernel.
    {16,
     "AnExpandedMaskIsNotFree",
     "virtual:A100-SXM4-80GB",
     shape({"--no-causal", "--mask", "expanded", "--only", "sdpa_efficient"}),
     {{"mask-conversion",
       "sdpa_efficient",
       {{"elements converted", kScores},
        {"distinct elements of the mask", 128 * 128},
        {"bytes that the conversion allocates", kScores * 2}},
       {"expanded view"}}},
     {"mask-per-head"}},
    {16,
     "AnAdditiveMaskOf128ColumnsIsReadAsItIs",
     "virtual:A100-SXM4-80GB",
     shape({"--no-causal", "--mask", "additive", "--only", "sdpa_efficient"}),
     {},
     {"mask-conversion", "mask-per-head"}},
    {30,
     "ARepeatedMaskIsOneForEachHead",
     "virtual:H100-SXM5",
     shape({"--no-causal", "--mask", "repeated", "--only", "sdpa_efficient,sdpa_auto"}),
     {{"mask-per-head",
       "the mask",
       {{"bytes of the mask", kScores},
        {"bytes for each head and batch element", 128 * 128},
        {"matrices in the mask", 16}},
       {}}},
     {}},
    {37,
     "AnAdditiveMaskOf125ColumnsIsPadded",
     "virtual:RTX-4090",
     {"--batch", "2", "--heads", "8", "--query-length", "128", "--key-length", "125", "--no-causal", "--mask",
      "additive", "--only", "sdpa_efficient"},
     {{"mask-conversion",
       "sdpa_efficient",
       {{"keys", 125}, {"bytes of the padded mask", 128 * 128 * 2}},
       {}}},
     {}},
};

INSTANTIATE_TEST_SUITE_P(Public, Masks, testing::ValuesIn(kScenarios),
                         [](const auto& one) { return test_name(one.param); });

}  // namespace
}  // namespace attnscope::test
