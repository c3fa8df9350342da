// What counters, grids and peaks say: right values by hand beside each test.
#include "attnscope/gpu.h"
#include "attnscope/models.h"
#include "b_runs.h"

namespace attnscope::test {
namespace {

constexpr const char* kSpokenByCounters[] = {
    "low-occupancy-hurts",   "redundant-dram", "l2-bound", "achieved-below-theoretical",
    "exponentials-limiting", "few-ctas",       "split-kv", "partial-last-wave"};

TEST(CountersB, ACleanFlashRunGetsNoneOfThem) {
    for (const Analysis& a : {only(blog(), "sdpa_flash"), only(blog(timed()), "sdpa_flash"),
                              only(counted(), "sdpa_flash"), only(counted(timed()), "sdpa_flash")})
        for (const Finding& f : find_all(a)) {
            EXPECT_TRUE(f.severity == Severity::good || f.severity == Severity::info)
                << f.id << ": " << f.claim;
            for (const char* id : kSpokenByCounters) EXPECT_NE(f.id, id) << f.claim;
        }
}

TEST(LowOccupancyHurts, WhereNothingIsBusy) {
    // 64 MiB in 160 us under counters, of 2.039 TB/s: 20.57%.
    const Analysis a = counted(timed(), {4, 6.25, 0});
    const Finding f = one(a, "low-occupancy-hurts", "sdpa_flash");
    EXPECT_EQ(f.severity, Severity::warning);
    EXPECT_EQ(number(f, "achieved occupancy"), 6.25);
    EXPECT_EQ(number(f, "tensor pipe busy"), 4);
    EXPECT_NEAR(number(f, "DRAM busy"), 100 * 67108864.0 / (160e-6 * 2.039e12), 1e-9);
    EXPECT_TRUE(has(f.claim, "tensor pipe 4% and DRAM 20.6%")) << f.claim;
    EXPECT_TRUE(has(f.next_step, "--counters core,stalls")) << f.next_step;
    for (const Finding& design : of(a, "low-occupancy-by-design"))
        EXPECT_NE(design.subject, "sdpa_flash") << "it cannot be design and fault at once";
}

TEST(LowOccupancyHurts, SilentWhereSomethingIsBusyOrNotCounted) {
    const auto silent = [](const Analysis& a) {
        for (const Finding& f : of(a, "low-occupancy-hurts")) EXPECT_NE(f.subject, "sdpa_flash") << f.claim;
    };
    silent(counted(timed(), {15, 6.25, 0}));  // the pipe has work
    Analysis a = counted(timed(), {4, 6.25, 0});
    count(get(a, "sdpa_flash"), "issue_slots", 70);
    silent(a);
    a = counted(timed(), {4, 6.25, 0});
    count(get(a, "sdpa_flash"), "dram_throughput", 85);
    silent(a);
    a = counted(timed(), {4, 6.25, 0});
    for (Step& s : get(a, "sdpa_flash").steps)
        std::erase_if(s.counters, [](const Measured& m) { return m.role == counter_role::kDramBytes; });
    silent(a);
    silent(counted(timed(), {4, 55, 0}));  // many warps
}

TEST(LowOccupancyHurts, NamesTheLongestStall) {
    Analysis a = counted(timed(), {4, 6.25, 0});
    count(get(a, "sdpa_flash"), "stall_long_scoreboard", 7.5, Unit::none);
    count(get(a, "sdpa_flash"), "stall_barrier", 1.5, Unit::none);
    EXPECT_EQ(number(one(a, "low-occupancy-hurts", "sdpa_flash"), "longest stall: long_scoreboard"), 7.5);
}

TEST(Achieved, FarBelowTheoretical) {
    const Finding f = one(counted(timed(), {61, 6.25, 0}), "achieved-below-theoretical", "sdpa_flash");
    EXPECT_EQ(number(f, "achieved occupancy"), 6.25);
    EXPECT_EQ(number(f, "theoretical occupancy"), 12.5);
    EXPECT_EQ(number(f, "occupancy that the grid allows"), 12.5);
    EXPECT_NEAR(number(f, "waves"), 1024.0 / 216, 1e-12);
    EXPECT_FALSE(has(f.claim, "The grid is why"));
    for (const Finding& other : of(counted(timed(), {61, 10, 0}), "achieved-below-theoretical"))
        EXPECT_NE(other.subject, "sdpa_flash") << "10 is 80% of 12.5";
}

TEST(Achieved, KernelsBesideAttentionAreToldTogether) {
    // By hand: everything but attention and products achieves 70%; elementwise kernels hold 100%,
    // softmax 62.5%.
    const std::vector<Finding> found = of(counted(timed()), "achieved-below-theoretical");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].subject, "naive, naive_inplace and sdpa_math");
    EXPECT_TRUE(has(found[0].claim,
                    "kernels beside attention achieve less than 80% of the theoretical occupancy: "
                    "elementwise mul of naive 70% of 100%"))
        << found[0].claim;
    EXPECT_EQ(number(found[0], "achieved occupancy, elementwise mul of naive"), 70);
    EXPECT_TRUE(has(found[0].next_step, "--only naive,naive_inplace,sdpa_math"));
}

TEST(Achieved, TheGridAloneCanBeWhy) {
    BlogOptions few = timed();
    few.batch = 1;  // 128 CTAs on 108 SMs: 1.185 on each, of 2 that fit, x 12.5%: 7.41%
    const Finding f = one(counted(few, {61, 7, 0}), "achieved-below-theoretical", "sdpa_flash");
    EXPECT_NEAR(number(f, "occupancy that the grid allows"), 12.5 * 128 / 108 / 2, 1e-12);
    EXPECT_TRUE(has(f.claim, "The grid is why: 128 CTAs on 108 SMs allow 7.4%.")) << f.claim;
}

TEST(RedundantDram, AboveTwiceTheLeast) {
    // q, k, v and o: 4 x 8 x 16 x 1024 x 64 x 2 bytes = 64 MiB.
    constexpr double kLeast = 67108864;
    Analysis a = counted(timed());
    EXPECT_TRUE(of(a, "redundant-dram").empty());
    count(get(a, "sdpa_flash"), "dram_bytes", 3 * kLeast, Unit::bytes);
    const Finding f = one(a, "redundant-dram", "sdpa_flash");
    EXPECT_EQ(number(f, "DRAM bytes, counted"), 3 * kLeast);
    EXPECT_EQ(number(f, "least bytes of its kernels"), kLeast);
    EXPECT_EQ(number(f, "bytes above that"), 2 * kLeast);
    EXPECT_TRUE(has(f.claim, "3 times the least")) << f.claim;
    count(get(a, "sdpa_flash"), "dram_bytes", 2 * kLeast, Unit::bytes);
    EXPECT_TRUE(of(a, "redundant-dram").empty());
}

TEST(L2Bound, OnlyWhereTheL2IsBusiest) {
    Analysis a = counted(timed());
    EXPECT_TRUE(of(a, "l2-bound").empty()) << "not counted";
    count(get(a, "sdpa_flash"), "l2_throughput", 92);
    const Finding f = one(a, "l2-bound", "sdpa_flash");
    EXPECT_EQ(number(f, "L2 busy"), 92);
    EXPECT_EQ(number(f, "tensor pipe busy"), 61);
    count(get(a, "sdpa_flash"), "l2_throughput", 79);
    EXPECT_TRUE(of(a, "l2-bound").empty());
    count(get(a, "sdpa_flash"), "l2_throughput", 92);
    count(get(a, "sdpa_flash"), "tensor_pipe", 95);
    EXPECT_TRUE(of(a, "l2-bound").empty());
}

Value peak(double value, Unit unit) {
    return Value::of(value, unit, {Source::model, Ground::virtual_gpu}, "by hand");
}

TEST(Exponentials, WhereTheyTakeAsLongAsTheProducts) {
    // An H100's peaks (FlashAttention-3 paper: 16 exponentials a clock and SM) at 1.98 GHz. Causal, so half:
    // 67,108,864 exponentials at 4.18e12/s, 17.2 GFLOP at 989.4 TFLOP/s: 16.05 and 17.36 us.
    Roofs h100;
    h100.major = 9;
    h100.dram = peak(3.35e12, Unit::bytes_per_second);
    h100.l2 = peak(52428800, Unit::bytes);
    h100.tensor = peak(9.894e14, Unit::flop_per_second);
    h100.exponentials = peak(16 * 132 * 1.98e9, Unit::count);
    AttentionShape shape{8, 16, 16, 1024, 1024, 64, "bf16"};
    shape.causal = true;
    Analysis a = only(blog(), "sdpa_flash");
    Implementation& flash = get(a, "sdpa_flash");
    flash.prediction = predict(shape, Method::flash, h100, Ground::virtual_gpu);
    const Finding f = one(a, "exponentials-limiting", "sdpa_flash");
    const double exponentials = 67108864 / (16 * 132 * 1.98e9) * 1e9;
    const double products = 4.0 * 8 * 16 * 1024 * 1024 * 64 / 2 / 9.894e14 * 1e9;
    EXPECT_NEAR(number(f, "least time of the exponentials"), exponentials, 1);
    EXPECT_NEAR(number(f, "least time of the products"), products, 1);
    EXPECT_NEAR(number(f, "exponentials / products"), 100 * exponentials / products, 0.01);
    EXPECT_TRUE(has(f.claim, "92.4% of the time")) << f.claim;
    EXPECT_EQ(f.severity, Severity::info);
    shape.head_dim = 128;  // twice the products, the same exponentials
    flash.prediction = predict(shape, Method::flash, h100, Ground::virtual_gpu);
    EXPECT_TRUE(of(a, "exponentials-limiting").empty());
}

TEST(Waves, ALastWaveThatIsMostlyEmpty) {
    BlogOptions two;
    two.batch = 2;  // 256 CTAs, 216 places: 1.185 waves, of 2: 59.3% used, 40 CTAs in the last
    const Finding f = one(blog(two), "partial-last-wave", "sdpa_flash");
    EXPECT_NEAR(number(f, "waves"), 256.0 / 216, 1e-12);
    EXPECT_NEAR(number(f, "places used over all waves"), 100 * 256.0 / 432, 1e-9);
    EXPECT_TRUE(has(f.claim, "after 1 whole wave, 40 CTAs are left for 216 places")) << f.claim;
    EXPECT_TRUE(has(f.next_step, "--batch 3")) << f.next_step;
    BlogOptions one_wave;
    one_wave.batch = 1;
    EXPECT_TRUE(of(blog(one_wave), "partial-last-wave").empty()) << "few-ctas speaks of it";
    EXPECT_TRUE(of(blog(), "partial-last-wave").empty()) << "4.74 of 5 waves";
}

TEST(SplitKv, TheGridSaysIntoHowMany) {
    Analysis a = blog();
    Implementation& flash = get(a, "sdpa_flash");
    Step& step = flash.steps[0];
    step.full_name =
        "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4, false, false, "
        "cutlass::bfloat16_t, Flash_kernel_traits<64, 64, 256, 4, cutlass::bfloat16_t> >, false, false, "
        "false, "
        "false, true, false, true, false>(pytorch_flash::Flash_fwd_params)";
    step.decoded.reset();
    step.grid = Dim3{1, 9, 16};
    step.ctas.number = 144;
    step.waves.number = 144.0 / 108;
    EXPECT_TRUE(of(a, "split-kv").empty()) << "nothing merges";
    Step combine = step;
    combine.role = Role::flash_combine;
    flash.steps.push_back(combine);
    const Finding f = one(a, "split-kv", "sdpa_flash");
    EXPECT_EQ(number(f, "splits"), 9);
    EXPECT_EQ(number(f, "CTAs of the grid"), 144);
    EXPECT_EQ(number(f, "CTAs without splitting"), 16);
    EXPECT_EQ(number(f, "kernels that merge"), 1);
}

TEST(FewCtas, LibTorchsChoiceAlone) {
    BlogOptions few;
    few.batch = 1;
    Analysis a = only(blog(few), "sdpa_auto");
    EXPECT_EQ(number(one(a, "few-ctas", "sdpa_auto"), "CTAs of the grid"), 128);
    EXPECT_EQ(of(blog(few), "few-ctas").size(), 2U) << "its twin, sdpa_flash, speaks for it";
}

}  // namespace
}  // namespace attnscope::test
