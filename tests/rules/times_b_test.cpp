// What times and models say: right values by hand beside each test.
#include "b_runs.h"

namespace attnscope::test {
namespace {

constexpr const char* kSpokenByTimes[] = {"above-the-roof", "faster-backend", "launch-bound", "first-call",
                                          "more-occupancy-less-speed"};

TEST(TimesB, ACleanFlashRunGetsNoneOfThem) {
    for (const Analysis& a : {only(blog(), "sdpa_flash"), only(blog(timed()), "sdpa_flash"),
                              only(counted(timed()), "sdpa_flash")})
        for (const Finding& f : find_all(a))
            for (const char* id : kSpokenByTimes) EXPECT_NE(f.id, id) << f.claim;
}

TEST(TimesB, AVirtualRunHasNoTimesOfItsOwn) {
    for (const char* id : {"above-the-roof", "launch-bound", "first-call", "fastest"})
        EXPECT_TRUE(of(blog(), id).empty()) << id;
}

TEST(LaunchBound, IdleBetweenLaunches) {
    Analysis a = blog(timed());
    EXPECT_TRUE(of(a, "launch-bound").empty());
    Implementation& math = get(a, "sdpa_math");
    math.time = nanoseconds(6e6);
    math.span = nanoseconds(10e6);
    const Finding f = one(a, "launch-bound", "sdpa_math");
    EXPECT_EQ(f.severity, Severity::warning);
    EXPECT_EQ(number(f, "idle between launches"), 4e6);
    EXPECT_TRUE(has(f.claim, "40% of the time")) << f.claim;
    EXPECT_EQ(number(f, "launches of an iteration"), 20);
    math.span = nanoseconds(7.4e6);  // 18.9%
    EXPECT_TRUE(of(a, "launch-bound").empty());
    math.span = nanoseconds(5e6);  // streams side by side
    EXPECT_TRUE(of(a, "launch-bound").empty());
}

// torchtune #1652: one kernel has no gaps, the program is what takes the time.
TEST(LaunchBound, AProgramSlowerThanItsKernels) {
    Analysis a = blog(timed());
    Implementation& cudnn = get(a, "sdpa_cudnn");
    cudnn.later_iterations = nanoseconds(1.5 * *cudnn.time.number);
    const Finding f = one(a, "launch-bound", "sdpa_cudnn");
    EXPECT_EQ(f.severity, Severity::info);
    EXPECT_EQ(number(f, "summed GPU time of an iteration"), 186300);
    EXPECT_EQ(number(f, "the program's time for an iteration"), 279450);
    EXPECT_TRUE(says(f, "406 to 638 ms"));
    cudnn.later_iterations = nanoseconds(1.4 * *cudnn.time.number);
    EXPECT_TRUE(of(a, "launch-bound").empty());
}

// FunASR #3704, sglang PR #4650: a plan for each shape, about half a second.
TEST(FirstCall, InTheWarmUpItIsToldInTheMeasurementItIsAWarning) {
    Analysis a = blog(timed());
    EXPECT_TRUE(of(a, "first-call").empty());
    Implementation& cudnn = get(a, "sdpa_cudnn");
    cudnn.first_iteration = nanoseconds(440e6);
    cudnn.later_iterations = nanoseconds(0.2e6);
    cudnn.first_is_warmup = true;
    const Finding outside = one(a, "first-call", "sdpa_cudnn");
    EXPECT_EQ(outside.severity, Severity::info);
    EXPECT_EQ(number(outside, "first warm-up"), 440e6);
    EXPECT_TRUE(has(outside.claim, "439.80 ms of preparation, in the warm-up")) << outside.claim;
    EXPECT_TRUE(says(outside, "TORCH_CUDNN_SDPA_AVOID_RECOMPILE"));
    Implementation& flash = get(a, "sdpa_flash");
    flash.first_iteration = nanoseconds(20e6);
    flash.later_iterations = nanoseconds(0.3e6);
    flash.first_is_warmup = true;
    const std::vector<Finding> both = of(a, "first-call");
    ASSERT_EQ(both.size(), 1U) << "no figure has them: one finding for all";
    EXPECT_TRUE(has(both[0].claim, "sdpa_flash 20.00 ms and sdpa_cudnn 440.00 ms")) << both[0].claim;
    EXPECT_EQ(number(both[0], "later iterations of sdpa_flash, median"), 0.3e6);
    EXPECT_TRUE(says(both[0], "TORCH_CUDNN_SDPA_AVOID_RECOMPILE"));
    flash.first_iteration = {};
    cudnn.first_is_warmup = false;
    const Finding inside = one(a, "first-call", "sdpa_cudnn");
    EXPECT_EQ(inside.severity, Severity::warning);
    EXPECT_TRUE(has(inside.claim, "inside the measurement, 1 of 2 iterations")) << inside.claim;
    EXPECT_TRUE(has(inside.next_step, "--warmup 3"));
    cudnn.first_iteration = nanoseconds(1.1e6);  // not 1 ms more
    EXPECT_TRUE(of(a, "first-call").empty());
}

// flash-attention #1345: more than 100% of the peak is a wrong number, not a fast kernel.
TEST(AboveRoof, SaysWhichRoofAndWhichConvention) {
    Analysis a = blog(timed());
    EXPECT_TRUE(of(a, "above-the-roof").empty());
    Implementation& flash = get(a, "sdpa_flash");
    flash.time = nanoseconds(10000);
    const Finding f = one(a, "above-the-roof", "sdpa_flash");
    EXPECT_EQ(f.severity, Severity::problem);
    const double flops = 4.0 * 8 * 16 * 1024 * 1024 * 64 / 2;
    EXPECT_EQ(number(f, "useful FLOP"), flops);
    EXPECT_NEAR(number(f, "useful FLOP / time"), flops / 1e-5, 1);
    EXPECT_EQ(number(f, "roof: bf16 tensor cores"), 3.12e14);
    EXPECT_TRUE(has(f.claim, "550.6% of the peak")) << f.claim;
    EXPECT_TRUE(says(f, "here half is counted"));
    // The whole square in this time would pass for 110% of the roof; half of it does not.
    flash.time = nanoseconds(100000);
    EXPECT_TRUE(of(a, "above-the-roof").empty());
    get(a, "sdpa_math").time = nanoseconds(500000);  // fp32 products: 34.4 TFLOP/s of 19.5
    EXPECT_EQ(number(one(a, "above-the-roof", "sdpa_math"), "roof: fp32 CUDA cores"), 1.95e13);
}

TEST(FasterBackend, MeasuredBesideLibTorchsChoice) {
    Analysis a = blog(timed());
    EXPECT_TRUE(of(a, "faster-backend").empty()) << "flash is chosen and fastest";
    Implementation& cudnn = get(a, "sdpa_cudnn");
    cudnn.time = nanoseconds(100000);
    const Finding f = one(a, "faster-backend", "sdpa_flash");
    EXPECT_EQ(number(f, "time of sdpa_flash"), 146800);
    EXPECT_EQ(number(f, "time of sdpa_cudnn"), 100000);
    EXPECT_TRUE(has(f.claim, "1.47 times faster (measured)")) << f.claim;
    cudnn.time_iqr = nanoseconds(50000);  // not told apart
    EXPECT_TRUE(of(a, "faster-backend").empty());
    cudnn.time_iqr = {};
    cudnn.max_abs_difference.number = 3;  // #139298, diffusers #9768: wrong results first
    EXPECT_TRUE(of(a, "faster-backend").empty());
    cudnn.max_abs_difference.number = 0.003;
    a.choice.chosen.clear();
    EXPECT_TRUE(of(a, "faster-backend").empty());
}

// #149857: hand-written attention can be the faster one.
TEST(FasterBackend, HandWrittenAttentionCounts) {
    Analysis a = blog(timed());
    a.choice.chosen = "efficient";
    for (const char* name : {"sdpa_flash", "sdpa_cudnn", "sdpa_auto"})
        get(a, name).status = ImplementationStatus::refused;
    get(a, "naive_inplace").time = nanoseconds(200000);
    EXPECT_TRUE(has(one(a, "faster-backend", "sdpa_efficient").claim, "naive_inplace computes the same in"));
}

// #142132: 329.5 against 631.3 TFLOP/s on an H100, published; no time of our own.
TEST(FasterBackend, PublishedTimesAreCited) {
    Analysis a = blog();
    a.device->id = "H100-SXM5";
    a.workload.batch = 1;
    a.workload.heads = a.workload.kv_heads = 24;
    a.workload.query_length = a.workload.key_length = 4608;
    a.workload.head_dim = 128;
    a.workload.causal = false;
    const Finding f = one(a, "faster-backend", "sdpa_flash");
    const double flops = 4.0 * 24 * 4608 * 4608 * 128;
    EXPECT_NEAR(number(f, "time of sdpa_flash"), flops / 329.5e12 * 1e9, 1);
    EXPECT_NEAR(number(f, "time of sdpa_cudnn"), flops / 631.3e12 * 1e9, 1);
    EXPECT_TRUE(has(f.claim, "published: pytorch issue 142132")) << f.claim;
    EXPECT_TRUE(says(f, "somebody else's"));
    EXPECT_TRUE(has(f.next_step, "--device real")) << f.next_step;
    a.workload.head_dim = 64;  // nobody published that
    EXPECT_TRUE(of(a, "faster-backend").empty());
}

TEST(MoreOccupancy, MeasuredAndPublished) {
    const Finding measured = one(blog(timed()), "more-occupancy-less-speed", "sdpa_efficient");
    const Finding published = one(blog(), "more-occupancy-less-speed", "sdpa_efficient");
    for (const Finding& f : {measured, published}) {
        EXPECT_EQ(number(f, "theoretical occupancy of sdpa_efficient"), 25);
        EXPECT_EQ(number(f, "theoretical occupancy of sdpa_flash"), 12.5);
        EXPECT_EQ(number(f, "time of sdpa_efficient"), 277900);
        EXPECT_EQ(number(f, "time of sdpa_flash"), 146800);
    }
    EXPECT_TRUE(has(measured.claim, "(measured)"));
    EXPECT_TRUE(has(published.claim, "(published: Hugging Face blog")) << published.claim;
    Analysis a = blog(timed());
    get(a, "sdpa_efficient").time = nanoseconds(100000);
    EXPECT_TRUE(of(a, "more-occupancy-less-speed").empty());
    BlogOptions other;
    other.batch = 4;
    EXPECT_TRUE(of(blog(other), "more-occupancy-less-speed").empty()) << "nobody published that shape";
}

TEST(Fastest, WrongResultsDoNotWin) {
    BlogOptions options = timed();
    Analysis a = blog(options);
    for (const char* name : {"sdpa_flash", "sdpa_auto"}) get(a, name).max_abs_difference.number = 2;
    EXPECT_EQ(of(a, "fastest")[0].subject, "sdpa_cudnn");
}

TEST(Math, TwoSwitchesWithTheirNumbers) {
    const Finding f = one(blog(), "math-upcast", "sdpa_math");
    constexpr double kScores = 134217728;
    EXPECT_EQ(number(f, "score-matrix bytes"), 44 * kScores);
    EXPECT_EQ(number(f, "score-matrix bytes without the upcast"), 20 * kScores);
    EXPECT_EQ(number(f, "roof of the products now"), 1.95e13);
    EXPECT_EQ(number(f, "roof without the upcast"), 3.12e14);
    EXPECT_EQ(number(f, "roof with TF32"), 1.56e14);
    EXPECT_TRUE(says(f, "setAllowFP16BF16ReductionMathSDP(true)"));
    EXPECT_TRUE(says(f, "set_float32_matmul_precision"));
    EXPECT_TRUE(has(f.next_step, "--reduced-precision-math")) << f.next_step;
    // is -inf r4 w1, all r1, where r4 w4
    EXPECT_EQ(number(one(blog(), "math-nan-guard", "sdpa_math"), "score-matrix bytes of the guard"),
              14 * kScores);
}

// PyTorch PR #163508: two kernels that the documentation's formula does not have.
TEST(Math, ScalesQAndKByTheSquareRoot) {
    const Finding f = one(blog(), "math-scaling", "sdpa_math");
    EXPECT_EQ(number(f, "scaling kernels"), 2);
    // q and k in fp32, 8,388,608 elements each, read and written
    EXPECT_EQ(number(f, "bytes that they read and write"), 2.0 * 2 * 8388608 * 4);
    EXPECT_TRUE(of(only(blog(), "naive"), "math-scaling").empty());
}

TEST(OtherGpu, RatiosOfBoundsAndRoofs) {
    const Finding f = one(blog(), "other-gpu", "another GPU");
    const double flops = 4.0 * 8 * 16 * 1024 * 1024 * 64 / 2;
    EXPECT_NEAR(number(f, "bound on A100-SXM4-80GB"), flops / 3.12e14 * 1e9, 1);
    EXPECT_NEAR(number(f, "bound on H100-SXM5"), flops / 9.894e14 * 1e9, 1);
    EXPECT_NEAR(number(f, "waves there"), 1024.0 / (2 * 132), 1e-12);
    EXPECT_EQ(number(f, "theoretical occupancy there, with the kernel's resources of here"), 12.5);
    EXPECT_TRUE(has(f.claim, "3.17 times lower")) << f.claim;
    EXPECT_TRUE(has(f.next_step, "--device virtual:H100-SXM5")) << f.next_step;
    BlogOptions unmarked;
    unmarked.with_workload = false;
    EXPECT_TRUE(of(blog(unmarked), "other-gpu").empty());
}

}  // namespace
}  // namespace attnscope::test
