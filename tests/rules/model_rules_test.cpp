// What bounds exclude, and how much of their roofs implementations reach: on the blog's run, whose bounds are
// computed by hand in tests/models/bounds_test.cpp and whose times are published.
#include <gtest/gtest.h>

#include "b_runs.h"

namespace attnscope::test {
namespace {

double number(const Finding& f, const std::string& label) {
    for (const Evidence& e : f.evidence)
        if (e.label == label) return e.value.number.value_or(-1);
    return -2;
}

bool says(const Finding& f, const std::string& text) {
    return f.claim.find(text) != std::string::npos;
}

TEST(BoundExcludes, WhatLiesAboveTheFastestTime) {
    const Analysis a = blog(timed());
    const std::vector<Finding> found = of(a, "bound-excludes");
    ASSERT_EQ(found.size(), 1U);
    const Finding& f = found[0];
    EXPECT_EQ(f.subject, "naive, naive_inplace and sdpa_math");
    EXPECT_TRUE(says(f, "cannot be the fastest")) << f.claim;
    EXPECT_TRUE(says(f, "sdpa_flash takes 0.1468 ms (measured)")) << f.claim;
    EXPECT_EQ(number(f, "time of sdpa_flash"), 146800.0);
    EXPECT_NEAR(number(f, "bound of naive_inplace"), 1828716544 / 2.039e12 * 1e9, 1);
    EXPECT_GT(number(f, "bound of sdpa_math"), 2 * 17179869184.0 / 19.5e12 * 1e9);
    ASSERT_EQ(f.counter_evidence.size(), 2U);
    EXPECT_NE(f.counter_evidence[1].find("sdpa_efficient and sdpa_cudnn"), std::string::npos)
        << "the bound cannot tell them apart";
}

// On a virtual GPU a published time of the same GPU and shape is enough, and named as one.
TEST(BoundExcludes, StandsOnAPublishedTimeAndSaysSo) {
    const std::vector<Finding> found = of(blog(), "bound-excludes");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(says(found[0], "(published: Hugging Face blog")) << found[0].claim;
    EXPECT_NE(found[0].counter_evidence.back().find("somebody else's"), std::string::npos);
    BlogOptions other;
    other.batch = 1;
    EXPECT_TRUE(of(blog(other), "bound-excludes").empty()) << "nobody published that shape";
}

TEST(BoundExcludes, IsSilentWithoutAProof) {
    Analysis slow = blog(timed());
    for (Implementation& i : slow.implementations) i.time.number = 1e9;
    EXPECT_TRUE(of(slow, "bound-excludes").empty()) << "every bound is below a second";
    Analysis unknown = blog(timed());
    for (Implementation& i : unknown.implementations)
        i.prediction.bound = Value::missing("no peaks are known", Unit::nanoseconds);
    EXPECT_TRUE(of(unknown, "bound-excludes").empty());
    Analysis wrong = blog(timed());
    get(wrong, "sdpa_flash").max_abs_difference.number = 3;  // a fast wrong answer proves nothing
    get(wrong, "sdpa_auto").max_abs_difference.number = 3;
    for (const Finding& f : of(wrong, "bound-excludes")) EXPECT_FALSE(says(f, "sdpa_flash takes")) << f.claim;
    EXPECT_TRUE(of(Analysis{}, "bound-excludes").empty());
}

TEST(BoundExcludes, OneTimeIsEnough) {
    Analysis a = blog(timed());
    for (Implementation& i : a.implementations)
        if (i.name != "sdpa_flash") i.time = Value::missing("not measured", Unit::nanoseconds);
    EXPECT_EQ(of(a, "bound-excludes").size(), 1U);
    // Within its spread it proves less.
    get(a, "sdpa_flash").time_iqr = Value::of(1e9, Unit::nanoseconds, {});
    EXPECT_TRUE(of(a, "bound-excludes").empty());
}

// 117 of 312 TFLOP/s: the share that the published time is of the A100's peak.
TEST(Roof, OfEachMeasuredImplementation) {
    const std::vector<Finding> found = of(blog(timed()), "roof");
    ASSERT_EQ(found.size(), 1U);
    const Finding& f = found[0];
    EXPECT_NEAR(number(f, "bound / time of sdpa_flash"), 37.5, 0.05);
    EXPECT_NEAR(number(f, "bound / time of sdpa_efficient"), 19.8, 0.05);
    EXPECT_NEAR(number(f, "bound / time of sdpa_cudnn"), 29.6, 0.05);
    EXPECT_TRUE(says(f, "sdpa_math comes nearest to its roof, sdpa_efficient stays farthest below"))
        << f.claim;
    EXPECT_TRUE(says(f, "sdpa_efficient takes 5.05 times its bound")) << f.claim;
    EXPECT_TRUE(says(f, "bf16 tensor cores")) << f.claim;
    for (const Evidence& e : f.evidence) {
        EXPECT_FALSE(e.compared_with.empty()) << "which roof";
        EXPECT_GT(e.value.number.value_or(0), 0);
        EXPECT_LE(e.value.number.value_or(101), 100);
    }
}

TEST(Roof, SaysWhenMathIsOffTheTensorCores) {
    Analysis a = blog(timed());
    get(a, "sdpa_math").prediction.binds = "compute";
    const std::vector<Finding> found = of(a, "roof");
    ASSERT_EQ(found.size(), 1U);
    for (const Evidence& e : found[0].evidence)
        if (e.label == "bound / time of sdpa_math") {
            EXPECT_EQ(e.compared_with,
                      "products on the fp32 CUDA cores: it computes in fp32 whatever its inputs are");
        }
}

TEST(Roof, IsSilentWithoutTimesAndBeyondItsBound) {
    EXPECT_TRUE(of(blog(), "roof").empty()) << "a virtual GPU has no time, a published one is not this run's";
    EXPECT_TRUE(of(Analysis{}, "roof").empty());
    Analysis broken = only(blog(timed()), "sdpa_flash");
    get(broken, "sdpa_flash").time.number = 1000;
    EXPECT_TRUE(of(broken, "roof").empty());
    get(broken, "sdpa_flash").time.number = 0;
    EXPECT_TRUE(of(broken, "roof").empty());
}

}  // namespace
}  // namespace attnscope::test
