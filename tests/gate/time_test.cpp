// Times told apart or not: against published tables of Mann and Whitney's U, and by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "attnscope/error.h"
#include "attnscope/gate.h"
#include "attnscope/gate_time.h"
#include "attnscope/gate_turns.h"
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

TEST(Turns, EachSideComesFirstInTurn) {
    const auto b = Side::before, a = Side::after;
    EXPECT_EQ(turns(1), (std::vector<Side>{b, a}));
    EXPECT_EQ(turns(3), (std::vector<Side>{b, a, a, b, b, a}));
    // A machine that slows down steadily does so for both.
    double at[2] = {0, 0};
    const std::vector<Side> ten = turns(10);
    for (size_t i = 0; i < ten.size(); ++i) at[ten[i] == a] += double(i);
    EXPECT_EQ(at[0], at[1]);
}

/// One run's facts, as a real GPU's.
GateFacts one_run(double time) {
    GateFacts f = small_facts();
    f.ground = Ground::real;
    subject(f, "fused").measurements.push_back({"time", {time}, {}, {}});
    return f;
}

Outcome time_outcome(const Sides& sides) {
    for (const Verdict& v : judge(sides.after, &sides.before, Policy(), {}).verdicts)
        if (v.rule == "time/time") return v.outcome;
    return Outcome::unjudged;
}

TEST(Turns, RunsAreReplicates) {
    std::string order;
    // Each run is slower than the one before it, by more than the sides differ.
    const auto slowing = [&](double after) {
        order.clear();
        return run_in_turns(10, [&, i = 0](Side side, size_t number) mutable {
            order += side == Side::before ? 'b' : 'a';
            EXPECT_LE(number, 10u);
            return one_run(1000 + (side == Side::after ? after : 0) + ++i);
        });
    };
    const Sides slower = slowing(80);
    EXPECT_EQ(order, "baabbaabbaabbaabbaab");
    EXPECT_EQ(slower.before.facts.runs, 10u);
    EXPECT_EQ(slower.after.find("fused")->find("time")->samples.size(), 10u);
    EXPECT_EQ(time_outcome(slower), Outcome::worse);
    EXPECT_EQ(time_outcome(slowing(-80)), Outcome::better);
    EXPECT_EQ(time_outcome(slowing(0)), Outcome::same);
    const Sides once =
        run_in_turns(1, [](Side side, size_t) { return one_run(side == Side::after ? 2000 : 1000); });
    EXPECT_EQ(time_outcome(once), Outcome::ambiguous);
    EXPECT_THROW(run_in_turns(0, [](Side, size_t) { return one_run(1); }), Error);
}

TEST(Turns, AFailureOfEitherSideEndsThemAndNamesTheRun) {
    for (const Side side : {Side::before, Side::after})
        for (const size_t number : {1u, 2u}) {
            size_t runs = 0;
            const Sides sides = run_in_turns(5, [&](Side s, size_t n) {
                ++runs;
                if (s != side || n != number) return one_run(1000);
                GateFacts failed;  // as of a program that ended before it used CUDA
                failed.unusable = {"the program ended with exit code 7"};
                return failed;
            });
            EXPECT_LT(runs, 5u) << "nothing can come of the others";
            const GateResult r = judge(sides.after, &sides.before, Policy(), {});
            EXPECT_EQ(r.exit, Exit::cannot_judge);
            EXPECT_EQ(r.headline, std::string("No comparison was made: ") + to_string(side) + ", run " +
                                      std::to_string(number) + ": the program ended with exit code 7");
            EXPECT_EQ(r.no_comparison.size(), 1u) << "said once";
            EXPECT_TRUE(r.inputs.empty() && r.environment.empty()) << "what was not seen did not change";
        }
}

TEST(Turns, WhatIsLostOrSlowedOnEitherSideCounts) {
    const auto with = [](Side bad, auto&& change) {
        return run_in_turns(6, [&](Side side, size_t) {
            GateFacts f = one_run(side == Side::after ? 1200 : 1000);
            if (side == bad) change(f);
            return f;
        });
    };
    for (const Side side : {Side::before, Side::after}) {
        const Sides lost = with(side, [](GateFacts& f) { f.lost = {"12 records"}; });
        EXPECT_EQ(judge(lost.after, &lost.before, Policy(), {}).exit, Exit::cannot_judge);
        const Sides hot = with(side, [](GateFacts& f) { f.throttled = {"thermal slowdown"}; });
        EXPECT_EQ(time_outcome(hot), Outcome::ambiguous);
    }
}

}  // namespace
}  // namespace attnscope::gate
