// Verdicts on exact values and counters, and the exit code that follows.
#include <gtest/gtest.h>

#include <set>

#include "attnscope/gate.h"
#include "attnscope/gate_self_test.h"
#include "sample.h"

namespace attnscope::gate {
namespace {

using namespace test;

GateResult judged(const GateFacts& run, const std::string& policy = "",
                  const GateFacts& before = small_facts()) {
    const Baseline baseline{"why", before};
    return judge(run, &baseline, read_policy(policy, "gate.toml"), {"b.json", {"run"}});
}

/// The verdict of this rule about this implementation that is not "same"; nullptr.
const Verdict* found(const GateResult& r, const std::string& rule, const std::string& subject = "") {
    for (const Verdict& v : r.verdicts)
        if (v.rule == rule && v.outcome != Outcome::same && (subject.empty() || v.subject == subject))
            return &v;
    return nullptr;
}

TEST(Gate, ARunAgainstItselfPasses) {
    for (const GateFacts& facts : {small_facts(), blog_facts()}) {
        const GateResult r = judged(facts, "", facts);
        EXPECT_EQ(r.exit, Exit::success) << r.headline;
        EXPECT_GT(r.count(Outcome::same), 20u);
        EXPECT_EQ(r.count(Outcome::same), r.verdicts.size());
    }
}

TEST(Gate, TheSelfTestSeesEveryWorsenedValue) {
    for (const GateFacts& facts : {small_facts(), blog_facts()}) {
        const SelfTest test = self_test(facts, Policy());
        EXPECT_TRUE(test.passed()) << (test.missed.empty() ? "nothing worsened" : test.missed.front());
        EXPECT_GT(test.worsened, 25u);
    }
}

TEST(Gate, TheSelfTestFailsAGateThatChecksNothing) {
    const Policy policy = read_policy(
        "[[limit]]\nmetric = \"*\"\nignore = true\n[[limit]]\nkernel = \"*\"\nmetric = \"*\"\nignore = true",
        "p");
    EXPECT_FALSE(self_test(small_facts(), policy).passed());
}

struct Worse {
    const char *subject, *part, *metric;
    double value;
};
class WorseValues : public ::testing::TestWithParam<Worse> {};

TEST_P(WorseValues, FailWithTheirRule) {
    const Worse& w = GetParam();
    GateFacts run = small_facts();
    Measurement& m =
        *w.part ? part_measurement(run, w.subject, w.part, w.metric) : measurement(run, w.subject, w.metric);
    m.samples = {w.value};
    const GateResult r = judged(run);
    EXPECT_EQ(r.exit, Exit::regression);
    const bool counter = find_gate_metric(w.metric)->kind == MetricClass::counter;
    const Verdict* v = found(r, std::string(counter ? "counter/" : "exact/") + w.metric, w.subject);
    ASSERT_TRUE(v);
    EXPECT_EQ(v->outcome, Outcome::worse);
    EXPECT_EQ(r.verdicts.front().outcome, Outcome::worse) << "worst first";
    EXPECT_FALSE(v->limit.empty());
    EXPECT_FALSE(v->next_step.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Gate, WorseValues,
    ::testing::Values(Worse{"fused", "", "launches", 2}, Worse{"plain", "", "library_calls", 2},
                      Worse{"plain", "", "copied_bytes", 4097}, Worse{"fused", "", "peak_memory", 1048577},
                      Worse{"plain", "", "least_bytes", 65537},
                      Worse{"fused", "flash_fwd_kernel<64>", "registers", 129},
                      Worse{"fused", "flash_fwd_kernel<64>", "shared", 1},
                      Worse{"fused", "flash_fwd_kernel<64>", "local", 8},
                      Worse{"fused", "flash_fwd_kernel<64>", "occupancy", 12.5},
                      Worse{"plain", "softmax_kernel", "count", 3}, Worse{"plain", "DtoD", "bytes", 8192},
                      Worse{"fused", "", "dram_read", 1060000}));

TEST(Gate, BetterIsNoFailureAndOffersTheUpdate) {
    GateFacts run = small_facts();
    part_measurement(run, "fused", "flash_fwd_kernel<64>", "occupancy").samples = {50};
    measurement(run, "fused", "dram_read").samples = {500000};
    const GateResult r = judged(run);
    EXPECT_EQ(r.exit, Exit::success);
    EXPECT_EQ(r.count(Outcome::better), 2u);
    EXPECT_NE(r.update_command.find("--write-baseline b.json"), std::string::npos);
    ASSERT_FALSE(r.notes.empty());
}

TEST(Gate, CountersMoveWithinTheirNoise) {
    GateFacts run = small_facts();
    for (const double value : {951000.0, 1049000.0}) {
        measurement(run, "fused", "dram_read").samples = {value};
        EXPECT_EQ(judged(run).count(Outcome::same), judged(run).verdicts.size()) << value;
    }
    // A bound inside the noise would fail by chance: the noise holds.
    measurement(run, "fused", "dram_read").samples = {1040000};
    EXPECT_EQ(judged(run, "[[limit]]\nmetric=\"dram_read\"\nmay_worsen=\"1%\"").exit, Exit::success);
    measurement(run, "fused", "dram_read").samples = {1190000};
    EXPECT_EQ(judged(run, "[[limit]]\nmetric=\"dram_read\"\nmay_worsen=\"20%\"").exit, Exit::success);
    EXPECT_EQ(judged(run, "[[limit]]\nmetric=\"dram_read\"\nmay_worsen=\"15%\"").exit, Exit::regression);
}

TEST(Gate, MeasuredNoiseReplacesTheAssumedFloor) {
    GateFacts run = small_facts();
    measurement(run, "fused", "dram_read").samples = {1020000};
    EXPECT_EQ(judged(run).exit, Exit::success) << "5 % is assumed";
    const std::string noise = "[[limit]]\nmetric=\"dram_read\"\nnoise=\"1%\"\n";
    const GateResult r = judged(run, noise);
    EXPECT_EQ(r.exit, Exit::regression);
    EXPECT_EQ(found(r, "counter/dram_read")->bound, "+1 %");
    EXPECT_EQ(found(r, "counter/dram_read")->line, 1);
    EXPECT_EQ(judged(run, noise + "[[limit]]\nmetric=\"dram_read\"\nmay_worsen=\"3%\"").exit, Exit::success);
    measurement(run, "fused", "dram_read").samples = {1080000};
    EXPECT_EQ(judged(run, "[[limit]]\nmetric=\"dram_read\"\nnoise=\"9%\"").exit, Exit::success);
    EXPECT_EQ(judged(small_facts(), "[[limit]]\nmetric=\"l2_hit_rate\"\nnoise=\"9%\"").exit,
              Exit::cannot_judge)
        << "it matches nothing";
}

/// `runs` of small_facts with this counter, from `least` evenly to `most`.
GateFacts spread(double least, double most, size_t runs) {
    std::vector<GateFacts> all;
    for (size_t i = 0; i < runs; ++i) {
        all.push_back(small_facts());
        const double value = least + (most - least) * double(i) / double(runs - 1);
        measurement(all.back(), "fused", "dram_read").samples = {value};
        subject(all.back(), "fused").parts[0].measurements.push_back({"dram_read", {value}, {}, {}});
    }
    return join(all);
}

TEST(SelfTestNoise, IsMeasuredAndProposed) {
    const SelfTest quiet = self_test(spread(995000, 1005000, 5), Policy());
    ASSERT_EQ(quiet.noise.size(), 2u) << "the implementation's own, and its kernels'";
    EXPECT_NEAR(quiet.noise[0].spread, 0.01, 1e-9);
    EXPECT_NEAR(quiet.noise[0].allowed, 0.05, 1e-9);
    EXPECT_NEAR(quiet.noise[0].proposed, 0.02, 1e-9) << "twice the spread";
    EXPECT_TRUE(quiet.noise[1].of_kernels);
    EXPECT_TRUE(quiet.passed());
    EXPECT_NEAR(self_test(spread(995000, 1005000, 2), Policy()).noise[0].proposed, 0.05, 1e-9)
        << "two runs that agree by luck lower no floor";
    // What it prints is a policy, under which the same runs pass and the gate can fail.
    const Policy proposed = read_policy(quiet.policy(), "p");
    ASSERT_EQ(proposed.limits.size(), 2u) << quiet.policy();
    EXPECT_NEAR(*proposed.limits[0].noise, 0.02, 1e-9);
    EXPECT_EQ(proposed.limits[1].kernel, "*");
    const SelfTest again = self_test(spread(995000, 1005000, 5), proposed);
    EXPECT_TRUE(again.passed());
    EXPECT_NEAR(again.noise[0].allowed, 0.02, 1e-9);
}

TEST(SelfTestNoise, ABoundWithinItIsSeen) {
    const SelfTest noisy = self_test(spread(960000, 1040000, 5), Policy());
    ASSERT_FALSE(noisy.noise.empty());
    EXPECT_TRUE(noisy.noise[0].beyond());
    EXPECT_FALSE(noisy.passed()) << "such a gate cries wolf";
    EXPECT_NE(noisy.noise[0].sentence().find("fused: dram_read differs by 8 % among 5 runs"),
              std::string::npos)
        << noisy.noise[0].sentence();
    EXPECT_TRUE(self_test(spread(960000, 1040000, 5), read_policy(noisy.policy(), "p")).passed());
}

TEST(Gate, BackendsAndStatus) {
    const auto with = [](const char* metric, const char* text) {
        GateFacts f = small_facts();
        measurement(f, "fused", metric).text = text;
        return f;
    };
    EXPECT_EQ(found(judged(with("backend", "math")), "exact/backend")->outcome, Outcome::worse);
    EXPECT_EQ(found(judged(with("backend", "efficient")), "exact/backend")->outcome, Outcome::worse);
    EXPECT_EQ(found(judged(small_facts(), "", with("backend", "math")), "exact/backend")->outcome,
              Outcome::better);
    EXPECT_EQ(judged(small_facts(), "", with("backend", "math")).exit, Exit::success);

    GateFacts refused = with("status", "refused");
    subject(refused, "fused").reason = "Flash Attention does not support non-null attn_mask.";
    const GateResult r = judged(refused);
    EXPECT_EQ(r.exit, Exit::regression);
    EXPECT_EQ(found(r, "exact/status")->cause, "Flash Attention does not support non-null attn_mask.");
    const GateResult failed = judged(with("status", "failed"));
    EXPECT_EQ(failed.exit, Exit::cannot_judge) << "a run that failed is no improvement and no regression";
    EXPECT_EQ(judged(small_facts(), "", refused).exit, Exit::success);
}

TEST(Gate, AnotherSetOfKernels) {
    GateFacts run = small_facts();
    subject(run, "plain").parts[0].name = "another_kernel";
    const GateResult r = judged(run);
    EXPECT_EQ(r.exit, Exit::regression);
    size_t fresh = 0, gone = 0;
    for (const Verdict& v : r.verdicts)
        if (v.rule == "matching/kernel")
            (v.before.metric.empty() ? fresh : gone) += v.outcome == Outcome::worse;
    EXPECT_EQ(fresh, 1u);
    EXPECT_EQ(gone, 1u);
    // The same kernel from another operation is no other set.
    run = small_facts();
    subject(run, "plain").parts[0].place = "aten::masked_fill_";
    EXPECT_EQ(judged(run).exit, Exit::success);
    // A copy less is better, and a new kernel worse even where another went.
    run = small_facts();
    subject(run, "plain").parts.pop_back();
    measurement(run, "plain", "launches").samples = {4};
    measurement(run, "plain", "copies").samples = {0};
    measurement(run, "plain", "copied_bytes").samples = {0};
    EXPECT_EQ(judged(run).exit, Exit::success);
    EXPECT_EQ(found(judged(run), "matching/copy")->outcome, Outcome::better);
}

TEST(Gate, WhatHasNoCounterpartIsAVerdict) {
    GateFacts run = small_facts();
    run.subjects.pop_back();
    EXPECT_EQ(judged(run).exit, Exit::cannot_judge);
    EXPECT_EQ(found(judged(run), "matching/implementation")->subject, "plain");
    EXPECT_EQ(judged(small_facts(), "", run).exit, Exit::cannot_judge);
    EXPECT_EQ(judged(small_facts(), "new = \"report\"", run).exit, Exit::success);
    EXPECT_EQ(judged(small_facts(), "new = \"fail\"", run).exit, Exit::regression);
    run = small_facts();
    measurement(run, "fused", "peak_memory") = {"peak_memory", {}, {}, "the program did not report it"};
    const GateResult r = judged(run);
    EXPECT_EQ(r.exit, Exit::cannot_judge);
    EXPECT_NE(found(r, "matching/value")->sentence.find("did not report"), std::string::npos);
}

TEST(Gate, PartsThatAreNotKnownAreNotGone) {
    GateFacts run = small_facts();
    measurement(run, "plain", "launches") = {"launches", {}, {}, "iterations differ"};
    subject(run, "plain").parts.clear();
    const GateResult r = judged(run);
    EXPECT_EQ(r.exit, Exit::cannot_judge);
    EXPECT_EQ(r.count(Outcome::better), 0u);
}

TEST(Gate, NoComparisonIsMade) {
    GateFacts run = small_facts();
    run.unusable = {"the program ended with exit code 1"};
    GateResult r = judged(run);
    EXPECT_EQ(r.exit, Exit::cannot_judge);
    EXPECT_EQ(r.headline, "No comparison was made: the program ended with exit code 1");
    EXPECT_TRUE(r.verdicts.empty());
    EXPECT_EQ(judged(run, "cannot_judge = \"pass\"").exit, Exit::success);
    EXPECT_EQ(judged(run, "cannot_judge = \"fail\"").exit, Exit::regression);
    run = small_facts();
    run.lost = {"7 records were dropped"};
    EXPECT_EQ(judged(run).exit, Exit::cannot_judge);
    EXPECT_EQ(judged(run, "data_loss = \"allow\"").exit, Exit::success);
    run = small_facts();
    run.gpu = "NVIDIA Other";
    EXPECT_NE(judged(run).headline.find("another GPU"), std::string::npos);
    run = small_facts();
    run.ground = Ground::real;
    EXPECT_EQ(judged(run).exit, Exit::cannot_judge);
}

TEST(Gate, InputsAreNamedFirstAndGatedAllTheSame) {
    GateFacts run = small_facts();
    run.inputs[1].value = "fp32";
    measurement(run, "fused", "peak_memory").samples = {2097152};
    const GateResult r = judged(run);
    EXPECT_EQ(r.exit, Exit::regression);
    ASSERT_EQ(r.inputs.size(), 1u);
    EXPECT_EQ(r.inputs[0].label + r.inputs[0].before + r.inputs[0].after, "dtypebf16fp32");
}

TEST(Gate, AnotherEnvironmentIsReportedAndJudgedAsThePolicySays) {
    GateFacts run = small_facts();
    run.environment[1].value = "2.12.0";
    EXPECT_EQ(judged(run).exit, Exit::success);
    EXPECT_EQ(judged(run).environment.at(0).after, "2.12.0");
    EXPECT_EQ(judged(run, "environment = \"fail\"").exit, Exit::regression);
    EXPECT_EQ(judged(run, "environment = \"cannot-judge\"").exit, Exit::cannot_judge);
}

TEST(Gate, AbsoluteLimitsNeedNoBaseline) {
    const auto only = [](const char* toml) {
        return judge(small_facts(), nullptr, read_policy(toml, "gate.toml"), {"", {"run"}});
    };
    EXPECT_EQ(only("[[limit]]\nimplementation=\"fused\"\nmetric=\"launches\"\nat_most=1").exit,
              Exit::success);
    const GateResult r = only("\n[[limit]]\nmetric=\"launches\"\nat_most=1");
    EXPECT_EQ(r.exit, Exit::regression);
    EXPECT_EQ(r.verdicts[0].subject, "plain");
    EXPECT_EQ(r.verdicts[0].line, 2);
    EXPECT_EQ(only("[[limit]]\nkernel=\"*flash*\"\nmetric=\"registers\"\nat_most=127").exit,
              Exit::regression);
    EXPECT_EQ(only("[[limit]]\nkernel=\"*flash*\"\nmetric=\"registers\"\nat_most=128").exit, Exit::success);
    EXPECT_EQ(only("[[limit]]\nmetric=\"occupancy\"\nat_least=25").exit, Exit::success);
    EXPECT_EQ(only("[[limit]]\nmetric=\"occupancy\"\nat_least=26").exit, Exit::regression);
    EXPECT_EQ(only("[[limit]]\nmetric=\"backend\"\nnot=\"math\"").exit, Exit::success);
    EXPECT_EQ(only("[[limit]]\nmetric=\"backend\"\nis=\"math\"").exit, Exit::regression);
}

TEST(Gate, ALimitThatMatchesNothingCannotBeGreen) {
    const GateResult r =
        judged(small_facts(), "[[limit]]\nimplementation=\"fuzed\"\nmetric=\"launches\"\nat_most=9");
    EXPECT_EQ(r.exit, Exit::cannot_judge);
    EXPECT_NE(found(r, "matching/limit")->sentence.find("fuzed"), std::string::npos);
    EXPECT_EQ(
        judged(small_facts(), "[[limit]]\nimplementation=\"fuzed\"\nmetric=\"launches\"\nmay_worsen=1").exit,
        Exit::cannot_judge);
    EXPECT_EQ(
        judged(small_facts(), "[[limit]]\nimplementation=\"fuzed\"\nmetric=\"launches\"\nignore=true").exit,
        Exit::cannot_judge);
}

TEST(Gate, ClassesAndPatternsSwitchOff) {
    GateFacts run = small_facts();
    part_measurement(run, "fused", "flash_fwd_kernel<64>", "registers").samples = {138};
    EXPECT_EQ(judged(run).exit, Exit::regression);
    EXPECT_EQ(judged(run, "[[limit]]\nkernel=\"*flash*\"\nmetric=\"registers\"\nmay_worsen=10").exit,
              Exit::success);
    EXPECT_EQ(judged(run, "[[limit]]\nkernel=\"*flash*\"\nmetric=\"registers\"\nmay_worsen=9").exit,
              Exit::regression);
    EXPECT_EQ(judged(run, "[[limit]]\nmetric=\"registers\"\nignore=true").exit, Exit::success);
    EXPECT_EQ(judged(run, "[classes]\nexact=false").exit, Exit::success);
    EXPECT_EQ(judged(run, "[classes]\nexact=false\ncounters=false").exit, Exit::cannot_judge)
        << "nothing was judged";
    // The last of two limits wins.
    EXPECT_EQ(judged(run,
                     "[[limit]]\nmetric=\"registers\"\nmay_worsen=10\n[[limit]]\nkernel=\"*flash*\"\nmetric="
                     "\"registers\"\nmay_worsen=1")
                  .exit,
              Exit::regression);
}

TEST(Gate, FindingsOfThisRunExplainUnlessTheBaselineHadThem) {
    GateFacts run = small_facts();
    measurement(run, "plain", "copies").samples = {2};
    Finding finding;
    finding.id = "masked-fill-copy";
    finding.subject = "plain";
    finding.severity = Severity::problem;
    finding.claim = "Out-of-place masked_fill copies the score matrix.";
    run.findings = {finding};
    EXPECT_EQ(found(judged(run), "exact/copies")->cause, finding.claim);
    GateFacts before = small_facts();
    subject(before, "plain").findings = {"masked-fill-copy"};
    EXPECT_TRUE(found(judged(run, "", before), "exact/copies")->cause.empty());
    run.findings[0].id = "few-ctas";
    EXPECT_TRUE(found(judged(run), "exact/copies")->cause.empty()) << "a small grid adds no copy";
}

TEST(Gate, ALostBackendIsExplainedByLibTorchsOwnWords) {
    GateFacts run = small_facts();
    measurement(run, "fused", "backend").text = "efficient";
    subject(run, "fused").refusals = {{"flash", "Flash Attention does not support non-null attn_mask."}};
    EXPECT_EQ(found(judged(run), "exact/backend")->cause,
              "LibTorch refuses flash: Flash Attention does not support non-null attn_mask.");
}

TEST(Gate, FingerprintsAreStableAndDistinct) {
    const GateResult a = judged(blog_facts(), "", blog_facts()), b = judged(blog_facts(), "", blog_facts());
    std::set<std::string> all;
    for (size_t i = 0; i < a.verdicts.size(); ++i) {
        EXPECT_EQ(a.verdicts[i].fingerprint(), b.verdicts[i].fingerprint());
        EXPECT_TRUE(all.insert(a.verdicts[i].fingerprint()).second) << a.verdicts[i].sentence;
    }
}

}  // namespace
}  // namespace attnscope::gate
