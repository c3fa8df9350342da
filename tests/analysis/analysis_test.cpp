// Numbers of the blog's shape on an A100. Right values: the published kernel counts (Hugging Face, "Profiling
// in PyTorch (part 3): attention": 6, 5, 20, 1, 1, 1), the copy of 268,435,456 bytes, and theoretical
// occupancy by cuda_occupancy.h.
#include <gtest/gtest.h>

#include <map>

#include "attnscope/analysis.h"
#include "blog_run.h"

namespace attnscope {
namespace {

using test::BlogOptions;

Analysis blog(const BlogOptions& options = {}) {
    test::TemporaryFolder folder;
    test::write_blog_run(folder.path(), options);
    return analyze(read_run(folder.path()));
}

const Implementation& get(const Analysis& a, std::string_view name) {
    for (const Implementation& i : a.implementations)
        if (i.name == name) return i;
    throw std::runtime_error("no implementation " + std::string(name));
}
/// By value: a reference would point into what is gone.
Implementation get(Analysis&& a, std::string_view name) {
    return get(static_cast<const Analysis&>(a), name);
}

TEST(Blog, LaunchesCopiesAndCalls) {
    const Analysis a = blog();
    ASSERT_EQ(a.implementations.size(), 7U);
    const std::map<std::string, double> launches = {
        {"naive", 6},      {"naive_inplace", 5}, {"sdpa_math", 20}, {"sdpa_efficient", 1},
        {"sdpa_flash", 1}, {"sdpa_cudnn", 1},    {"sdpa_auto", 1}};
    for (const auto& [name, count] : launches) {
        const Implementation& i = get(a, name);
        EXPECT_EQ(i.launches.number, count) << name;
        EXPECT_EQ(*i.launches.number,
                  *i.kernels.number + *i.copies.number + *i.library_calls.number + *i.memsets.number);
        EXPECT_EQ(i.iterations, 2U);
        EXPECT_TRUE(i.iterations_equal);
        EXPECT_EQ(i.status, ImplementationStatus::ran);
        EXPECT_EQ(i.launches.provenance.ground, Ground::virtual_gpu);
        EXPECT_EQ(i.launches.provenance.source, Source::trace);
    }
    EXPECT_EQ(get(a, "naive").copies.number, 1.0);
    EXPECT_EQ(get(a, "naive").device_copy_bytes.number, test::kScoreBytes);
    EXPECT_EQ(get(a, "naive_inplace").copied_bytes.number, 0.0);
    EXPECT_EQ(get(a, "sdpa_math").kernels.number, 18.0);
    EXPECT_EQ(get(a, "sdpa_math").library_calls.number, 2.0);
    EXPECT_EQ(get(a, "sdpa_cudnn").kernels.number, 0.0);
    EXPECT_EQ(get(a, "sdpa_cudnn").library_calls.number, 1.0);
}

TEST(Blog, ResourcesAndOccupancy) {
    const Analysis a = blog();
    const Implementation& flash = get(a, "sdpa_flash");
    EXPECT_EQ(flash.registers.number, 255.0);
    EXPECT_EQ(flash.registers.provenance.source, Source::binary);
    EXPECT_EQ(flash.shared.number, 49152.0);
    ASSERT_TRUE(flash.lowest_occupancy());
    const Step& step = *flash.lowest_occupancy();
    EXPECT_EQ(step.role, Role::flash);
    EXPECT_EQ(step.occupancy.number, 12.5);
    EXPECT_EQ(step.occupancy.provenance.source, Source::computed);
    EXPECT_EQ(step.ctas_per_sm.number, 2.0);
    EXPECT_EQ(step.limiter, "registers");
    EXPECT_EQ(step.local.number, 88.0);
    EXPECT_NEAR(*step.waves.number, 1024.0 / (2 * 108), 1e-12) << "8 x 8 x 16 CTAs on 108 SMs";
    EXPECT_EQ(step.nsight_speedup.number, 87.5);
    EXPECT_EQ(get(a, "sdpa_efficient").lowest_occupancy()->occupancy.number, 25.0);
    EXPECT_EQ(get(a, "sdpa_efficient").lowest_occupancy()->nsight_speedup.number, 75.0);
    const Implementation& cudnn = get(a, "sdpa_cudnn");
    EXPECT_EQ(cudnn.lowest_occupancy(), nullptr);
    EXPECT_FALSE(cudnn.registers);
    EXPECT_EQ(cudnn.registers.absent, "chosen by the library on a real GPU");
    EXPECT_EQ(cudnn.steps.at(0).registers.absent, "chosen by the library on a real GPU");
}

TEST(Blog, ModelsWithTheirFormulas) {
    const Analysis a = blog();
    constexpr double scores = 8.0 * 16 * 1024 * 1024;  // 134,217,728
    // Bytes per score element: reads and writes of each kernel of the launch list (20, 16, 44 and 0).
    EXPECT_EQ(get(a, "naive").score_bytes.number, 20 * scores);
    EXPECT_EQ(get(a, "naive_inplace").score_bytes.number, 16 * scores);
    EXPECT_EQ(get(a, "sdpa_math").score_bytes.number, 44 * scores);
    for (const char* fused : {"sdpa_flash", "sdpa_efficient", "sdpa_cudnn", "sdpa_auto"})
        EXPECT_EQ(get(a, fused).score_bytes.number, 0.0) << fused;
    EXPECT_EQ(get(a, "naive").score_bytes.provenance.source, Source::model);
    EXPECT_NE(get(a, "naive").score_bytes.formula.find("134,217,728 scores x 20 bytes"), std::string::npos);
    EXPECT_EQ(get(a, "sdpa_flash").least_bytes.number, 67108864.0)
        << "four tensors of 8 x 16 x 1024 x 64 in bf16: 67 MB";
    EXPECT_EQ(get(a, "sdpa_flash").flops.number, 17179869184.0) << "34.4 GFLOP, half of it causal";
    EXPECT_NE(get(a, "sdpa_flash").flops.formula.find("/ 2 (causal"), std::string::npos);
}

TEST(Blog, VirtualGroundHasNoTime) {
    BlogOptions options;
    options.times = true;  // ticks of a virtual GPU that give an order
    const Analysis a = blog(options);
    EXPECT_FALSE(a.timed());
    for (const Implementation& i : a.implementations) {
        EXPECT_EQ(i.time.absent, "nothing was measured: virtual GPU");
        for (const Step& step : i.steps) EXPECT_EQ(step.time.absent, "nothing was measured: virtual GPU");
        EXPECT_EQ(i.max_abs_difference.absent, "nothing was computed: virtual GPU");
    }
}

TEST(Blog, RealGroundHasMedianTimesAndDifferences) {
    BlogOptions options;
    options.ground = "real";
    options.times = true;
    options.iterations = 5;
    const Analysis a = blog(options);
    EXPECT_TRUE(a.timed());
    const Implementation& flash = get(a, "sdpa_flash");
    EXPECT_EQ(flash.time.number, 146800.0) << "the published 146.8 us";
    EXPECT_EQ(flash.time_iqr.number, 0.0);
    EXPECT_EQ(flash.time.provenance.ground, Ground::real);
    EXPECT_EQ(flash.registers.provenance.source, Source::trace);
    EXPECT_EQ(get(a, "naive_inplace").time.number, 1955000.0) << "the published 1.955 ms";
    EXPECT_EQ(get(a, "sdpa_efficient").max_abs_difference.number, 0.004);
    EXPECT_EQ(get(a, "sdpa_efficient").compared_with, "sdpa_math");
    EXPECT_EQ(get(a, "naive").library_calls.number, 0.0) << "on a real GPU cuBLAS shows as kernels";
    EXPECT_EQ(get(a, "naive").launches.number, 6.0);
}

TEST(Blog, OneRecordWithoutTimeLeavesNoHalfTime) {
    BlogOptions options;
    options.ground = "real";
    const Analysis a = blog(options);
    EXPECT_FALSE(get(a, "sdpa_flash").time);
    EXPECT_EQ(get(a, "sdpa_flash").time.absent, "2 of 2 launches have no start and end");
}

TEST(Blog, WarmUpIsApart) {
    const Analysis a = blog();
    EXPECT_EQ(get(a, "sdpa_efficient").copies.number, 0.0);
    ASSERT_EQ(get(a, "sdpa_efficient").apart.size(), 1U);
    EXPECT_EQ(get(a, "sdpa_efficient").apart[0].copy_kind, "HtoD");
    EXPECT_TRUE(get(a, "sdpa_flash").apart.empty())
        << "what warm-up and iterations share is not listed twice";
}

TEST(Blog, RefusedStaysWithItsReasonAndWithoutNumbers) {
    BlogOptions options;
    options.refuse_flash = true;
    const Analysis a = blog(options);
    const Implementation& flash = get(a, "sdpa_flash");
    EXPECT_EQ(flash.status, ImplementationStatus::refused);
    EXPECT_EQ(flash.reason, "Flash Attention does not support non-null attn_mask.");
    for (const Value* v : {&flash.launches, &flash.kernels, &flash.registers, &flash.shared,
                           &flash.peak_memory, &flash.score_bytes, &flash.time}) {
        EXPECT_FALSE(*v);
        EXPECT_FALSE(v->absent.empty());
    }
}

TEST(Blog, PeakMemoryAsReported) {
    const Analysis a = blog();
    const Implementation& math = get(a, "sdpa_math");
    EXPECT_EQ(math.peak_memory.number, 2285895680.0);
    EXPECT_EQ(math.peak_memory.provenance.source, Source::reported);
}

TEST(Blog, WithoutTheWorkloadMarkModelsAreAbsent) {
    BlogOptions options;
    options.with_workload = false;
    const Analysis a = blog(options);
    EXPECT_FALSE(get(a, "naive").score_bytes);
    EXPECT_FALSE(get(a, "naive").flops);
    EXPECT_EQ(get(a, "naive").launches.number, 6.0);
}

Analysis of_lines(const test::ProcessWriter& w) {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json());
    test::write_text(folder.path() / "p.jsonl", w.text());
    return analyze(read_run(folder.path()));
}

// With a mask LibTorch converts it first: kernels that say nothing about the attention kernel itself.
TEST(Fused, OnlyTheAttentionKernelSpeaksForIt) {
    test::ProcessWriter w;
    w.a100();
    w.mark(
        R"(attnscope.workload {"batch":1,"heads":8,"kv_heads":8,"query_length":512,"key_length":512,"head_dim":64,"dtype":"bf16","causal":false,"mask":"bool","backward":true})");
    const auto cudnn = w.open("attnscope.implementation/sdpa_cudnn");
    w.kernel({"fill", {1, 1, 1}, {128, 1, 1}, 16}, cudnn);
    w.library_call("cuDNN", "cudnnBackendExecute", "attention_forward", cudnn);
    w.close(cudnn);
    const auto flash = w.open("attnscope.implementation/sdpa_flash");
    w.kernel({"huge", {1, 1, 1}, {1024, 1, 1}, 64, 0, 163840}, flash);
    w.kernel({"flash_fwd_kernel", {8, 8, 16}, {128, 1, 1}, 255, 0, 49152}, flash);
    w.close(flash);
    w.end();
    const Analysis a = of_lines(w);
    EXPECT_EQ(get(a, "sdpa_cudnn").kernels.number, 1.0);
    EXPECT_EQ(get(a, "sdpa_cudnn").lowest_occupancy(), nullptr);
    EXPECT_EQ(get(a, "sdpa_cudnn").registers.absent, "chosen by the library on a real GPU");
    EXPECT_EQ(get(a, "sdpa_flash").lowest_occupancy()->name, "flash_fwd_kernel");
    EXPECT_EQ(get(a, "sdpa_flash").shared.number, 49152.0);
    EXPECT_EQ(get(a, "sdpa_flash").score_bytes.number, 0.0) << "fused backward recomputes the scores";
    // 8 x 512 x 64 elements of 2 bytes each. Forward: q, k, v, o; backward: q, k, v, o's gradient, and three
    // gradients.
    EXPECT_EQ(get(a, "sdpa_flash").least_bytes.number, (4 + 7) * 2.0 * 262144);
}

TEST(Iterations, ThatDifferHaveNoCount) {
    test::ProcessWriter w;
    w.a100();
    const auto outer = w.open("attnscope.implementation/mine");
    for (int i = 1; i <= 3; ++i) {
        const auto iteration = w.open("attnscope.iteration", outer);
        for (int k = 0; k < (i == 3 ? 2 : 1); ++k) w.kernel({"k"}, iteration);
        w.close(iteration);
    }
    w.close(outer);
    w.end();
    const Analysis a = of_lines(w);
    const Implementation& mine = get(a, "mine");
    EXPECT_FALSE(mine.iterations_equal);
    EXPECT_FALSE(mine.kernels);
    EXPECT_EQ(mine.kernels.absent, "iterations differ: 1 launch in the first, 2 in number 3");
    ASSERT_FALSE(a.notices.empty());
    EXPECT_EQ(a.notices[0].code, "iterations");
    EXPECT_EQ(mine.status, ImplementationStatus::unknown) << "no mark says that it ran";
}

TEST(Iterations, TheUnfinishedLastOneIsLeftOut) {
    test::ProcessWriter w;
    w.a100();
    const auto outer = w.open("attnscope.implementation/mine");
    for (int i = 1; i <= 3; ++i) {
        const auto iteration = w.open("attnscope.iteration", outer);
        w.kernel({"k"}, iteration);
        if (i < 3) w.kernel({"k"}, iteration);
        if (i < 3) w.close(iteration);
    }
    const Analysis a = of_lines(w);
    EXPECT_EQ(get(a, "mine").kernels.number, 2.0);
    EXPECT_EQ(get(a, "mine").iterations, 2U);
    EXPECT_NE(get(a, "mine").iterations_note.find("1 unfinished iteration left out"), std::string::npos);
    ASSERT_FALSE(a.notices.empty());
    EXPECT_EQ(a.notices[0].level, NoticeLevel::data_loss) << "worst first";
}

TEST(Iterations, OtherThreadsAndNestedRangesBelongToTheIteration) {
    test::ProcessWriter w;
    w.a100();
    const auto outer = w.open("attnscope.implementation/mine");
    const auto iteration = w.open("attnscope.iteration", outer);
    const auto pushed = w.open("autograd", iteration, "thread");
    const auto deeper = w.open("mm", pushed, "thread");
    w.kernel({"k"}, deeper);
    w.kernel({"k"}, iteration);
    w.kernel({"k"}, 0);  // outside of everything
    w.end();
    EXPECT_EQ(get(of_lines(w), "mine").kernels.number, 2.0);
}

TEST(AnyProgram, GroupsByOutermostRange) {
    test::ProcessWriter w;
    w.a100();
    for (int i = 0; i < 3; ++i) {
        const auto step = w.open("step", 0, "thread");
        const auto inner = w.open("layer", step, "thread");
        w.kernel({"a", {1, 1, 1}, {128, 1, 1}, 255, 0, 49152}, inner);
        w.kernel({"a", {1, 1, 1}, {128, 1, 1}, 255, 0, 49152}, step);
        w.kernel({"b"}, inner);
        w.kernel({"b"}, inner);
        w.close(inner);
        w.close(step);
    }
    w.copy("HtoD", 1000, 0);
    w.end();
    const Analysis a = of_lines(w);
    EXPECT_FALSE(a.has_convention);
    ASSERT_EQ(a.implementations.size(), 2U);
    EXPECT_EQ(a.implementations[0].name, "step");
    EXPECT_EQ(a.implementations[0].kernels.number, 12.0);
    ASSERT_EQ(a.implementations[0].steps.size(), 3U) << "what another range launched is another step";
    EXPECT_EQ(a.implementations[0].steps[0].name, "b");
    EXPECT_EQ(a.implementations[0].steps[0].times, 6U) << "most launches first";
    EXPECT_EQ(a.implementations[0].steps[1].origin.range, "layer");
    EXPECT_EQ(a.implementations[0].steps[2].origin.range, "step");
    EXPECT_EQ(a.implementations[0].lowest_occupancy()->name, "a");
    EXPECT_EQ(a.implementations[1].name, "outside any range");
    EXPECT_EQ(a.implementations[1].copied_bytes.number, 1000.0);
}

TEST(AnyProgram, RanksStandApart) {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json());
    for (const char* rank : {"1", "0"}) {
        test::ProcessWriter w("virtual", std::string(",\"rank\":") + rank);
        w.a100();
        w.kernel({"k"}, 0);
        w.end();
        test::write_text(folder.path() / (std::string(rank) + ".jsonl"), w.text());
    }
    const Analysis a = analyze(read_run(folder.path()));
    ASSERT_EQ(a.implementations.size(), 2U);
    EXPECT_EQ(a.implementations[0].title, "whole program (rank 0)");
    EXPECT_EQ(a.implementations[1].title, "whole program (rank 1)");
}

TEST(Occupancy, IsAbsentWithTheReason) {
    test::ProcessWriter w;
    w.line(
        R"({"type":"device","device":0,"name":"half known","compute_major":8,"compute_minor":0,"sm_count":108})");
    w.kernel({"k"}, 0);
    w.line(R"({"type":"kernel","correlation":5,"device":3,"grid_x":1,"grid_y":1,"grid_z":1})");
    w.line(
        R"({"type":"kernel","correlation":6,"device":0,"registers":300,"static_shared":0,"dynamic_shared":0,"block_x":4294967295,"block_y":4294967295,"block_z":4294967295})");
    const Analysis a = of_lines(w);
    for (const Step& step : a.implementations.at(0).steps) {
        EXPECT_FALSE(step.occupancy);
        EXPECT_FALSE(step.waves);
    }
    EXPECT_EQ(a.implementations[0].steps[0].occupancy.absent, "the device's record lacks warp_size");
}

TEST(Analysis, OfNothingIsEmptyAndSaysSo) {
    test::ProcessWriter w;
    w.end();
    const Analysis a = of_lines(w);
    EXPECT_TRUE(a.implementations.empty());
    ASSERT_EQ(a.notices.size(), 1U);
    EXPECT_EQ(a.notices[0].code, "nothing-recorded");
    EXPECT_EQ(build_report(a).answer.at(0), "No comparison was made: the run holds no launches.");
}

}  // namespace
}  // namespace attnscope
