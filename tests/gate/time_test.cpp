// Times told apart or not: against published tables of Mann and Whitney's U, and by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "attnscope/gate.h"
#include "attnscope/gate_time.h"
#include "sample.h"

namespace attnscope::gate {
namespace {

using namespace test;

TEST(RankSum, AgreesWithThePublishedTable) {
    // Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than the
    // other" (1947), table I: P(U <= u) for n = m = 4, and m = 3, n = 4.
    EXPECT_NEAR(rank_sum_probability(4, 4, 0), 0.014, 5e-4);
    EXPECT_NEAR(rank_sum_probability(4, 4, 3), 0.100, 5e-4);
    EXPECT_NEAR(rank_sum_probability(4, 4, 8), 0.557, 5e-4);
    EXPECT_NEAR(rank_sum_probability(3, 4, 2), 0.114, 5e-4);
    EXPECT_NEAR(rank_sum_probability(3, 4, 5), 0.429, 5e-4);
    EXPECT_EQ(rank_sum_probability(3, 4, 12), 1);
    EXPECT_EQ(rank_sum_probability(0, 4, 0), 1);
    // Critical values for two-sided 5 %: n = m = 8 is 13, n = m = 10 is 23.
    EXPECT_LE(rank_sum_probability(8, 8, 13), 0.025);
    EXPECT_GT(rank_sum_probability(8, 8, 14), 0.025);
    EXPECT_LE(rank_sum_probability(10, 10, 23), 0.025);
    EXPECT_GT(rank_sum_probability(10, 10, 24), 0.025);
    // Where it goes over to the normal approximation there is no step.
    EXPECT_NEAR(rank_sum_probability(40, 40, 650), rank_sum_probability(41, 41, 683), 0.02);
}

TEST(RankSum, CountsEveryOrder) {
    for (size_t n = 1; n <= 12; ++n) {
        double orders = 1;
        for (size_t i = 1; i <= n; ++i) orders = orders * double(n + i) / double(i);
        EXPECT_NEAR(rank_sum_probability(n, n, 0) * orders, 1, 1e-9) << n;
    }
}

TEST(Times, OneRunASideIsAmbiguousHoweverFarApart) {
    const TimeComparison c = compare_times({100}, {1000}, 0.03, 0.01, 1);
    EXPECT_EQ(c.outcome, TimeOutcome::ambiguous);
    EXPECT_FALSE(c.low);
    EXPECT_NEAR(*c.change, 9, 1e-12);
    EXPECT_EQ(c.runs_needed, 5u) << "2 / (10 choose 5) is 0.8 %";
    EXPECT_EQ(compare_times({100}, {1000}, 0.03, 0.01, 50).runs_needed, 8u) << "2 / (16 choose 8) is 0.016 %";
}

TEST(Times, WorseBetterSame) {
    const std::vector<double> a = {100, 101, 99, 100.5, 99.5}, b = {110, 111, 109, 110.5, 109.5};
    const TimeComparison worse = compare_times(a, b, 0.03, 0.01, 1);
    EXPECT_EQ(worse.outcome, TimeOutcome::worse);
    EXPECT_NEAR(*worse.change, 0.10, 0.002);
    EXPECT_NEAR(*worse.low, 109.0 / 101 - 1, 1e-12) << "with 5 a side the interval is the whole range";
    EXPECT_NEAR(*worse.high, 111.0 / 99 - 1, 1e-12);
    EXPECT_EQ(compare_times(b, a, 0.03, 0.01, 1).outcome, TimeOutcome::better);
    EXPECT_EQ(compare_times(a, a, 0.03, 0.01, 1).outcome, TimeOutcome::same);
    EXPECT_EQ(compare_times(a, b, 0.15, 0.01, 1).outcome, TimeOutcome::same) << "10 % does not matter here";
    EXPECT_EQ(compare_times(a, b, 0.03, 0.01, 50).outcome, TimeOutcome::ambiguous)
        << "five runs for 50 groups";
}

TEST(Times, AreAmbiguousWhereTheyAreNoTimes) {
    EXPECT_EQ(compare_times({}, {}, 0.03, 0.01, 1).outcome, TimeOutcome::ambiguous);
    EXPECT_EQ(compare_times({0, 1, 2, 3, 4}, {9, 9, 9, 9, 9}, 0.03, 0.01, 1).outcome, TimeOutcome::ambiguous);
    EXPECT_EQ(compare_times({NAN, 1, 1, 1, 1}, {9, 9, 9, 9, 9}, 0.03, 0.01, 0).outcome,
              TimeOutcome::ambiguous);
}

TEST(Times, ManyRunsUseTheApproximation) {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0, 0.01);
    std::vector<double> a, b;
    for (int i = 0; i < 60; ++i) {
        a.push_back(100 * std::exp(noise(random)));
        b.push_back(104 * std::exp(noise(random)));
    }
    const TimeComparison c = compare_times(a, b, 0.03, 0.01, 50);
    EXPECT_EQ(c.outcome, TimeOutcome::worse);
    EXPECT_GT(*c.low, 0.02);
    EXPECT_LT(*c.high, 0.06);
}

GateFacts timed(double scale, double clock = 0, size_t runs = 6) {
    std::vector<GateFacts> all;
    for (size_t i = 0; i < runs; ++i) {
        GateFacts f = small_facts();
        f.ground = Ground::real;
        subject(f, "fused").measurements.push_back({"time", {scale * (1000 + double(i))}, {}, {}});
        if (clock > 0) f.sm_clock = {clock};
        all.push_back(f);
    }
    return join(all);
}

Verdict time_verdict(const GateFacts& before, const GateFacts& after, const std::string& policy = "") {
    const Baseline baseline{"", before};
    for (const Verdict& v : judge(after, &baseline, read_policy(policy, "p"), {}).verdicts)
        if (v.rule == "time/time") return v;
    return {};
}

TEST(TimeVerdicts, NeedRunsNotRepetitions) {
    EXPECT_EQ(time_verdict(timed(1), timed(1.1)).outcome, Outcome::worse);
    EXPECT_EQ(time_verdict(timed(1.1), timed(1)).outcome, Outcome::better);
    EXPECT_EQ(time_verdict(timed(1), timed(1)).outcome, Outcome::same);
    const Verdict one = time_verdict(timed(1, 0, 1), timed(2, 0, 1));
    EXPECT_EQ(one.outcome, Outcome::ambiguous);
    EXPECT_NE(one.sentence.find("5 a side are needed"), std::string::npos) << one.sentence;
    EXPECT_EQ(time_verdict(timed(1), timed(1.1), "[[limit]]\nmetric=\"time\"\nmay_worsen=\"20%\"").outcome,
              Outcome::same);
    EXPECT_EQ(time_verdict(timed(1), timed(1.1), "[classes]\ntime=false").rule, "");
}

TEST(TimeVerdicts, ClocksThatDifferForbidOne) {
    EXPECT_EQ(time_verdict(timed(1, 1410), timed(1.1, 1400)).outcome, Outcome::worse);
    const Verdict v = time_verdict(timed(1, 1410), timed(1.1, 1200));
    EXPECT_EQ(v.outcome, Outcome::ambiguous);
    EXPECT_NE(v.sentence.find("1410 MHz"), std::string::npos);
    GateFacts hot = timed(1.1);
    hot.throttled = {"thermal slowdown"};
    EXPECT_EQ(time_verdict(timed(1), hot).outcome, Outcome::ambiguous);
}

}  // namespace
}  // namespace attnscope::gate
