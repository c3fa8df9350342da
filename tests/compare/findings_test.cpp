// What a comparison says, where it must and where it must not.
#include <gtest/gtest.h>

#include "runs.h"

namespace attnscope {
namespace {

using test::blog;
using test::BlogOptions;
using test::evidence;
using test::find;
using test::measured_blog;
using test::pair_named;

TEST(InputChanged, IsSaidFirst) {
    BlogOptions small;
    small.batch = 1;
    const Analysis a = blog(), b = blog(small);
    const Comparison c = compare(a, b);
    ASSERT_EQ(c.inputs.size(), 1U);
    EXPECT_EQ(c.inputs[0].what, "batch");
    const auto findings = find_differences(c);
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].id, "input-changed");
    EXPECT_NE(findings[0].claim.find("batch 8 -> 1"), std::string::npos) << findings[0].claim;
    EXPECT_EQ(evidence(findings[0], "scores in A"), 134217728.0);
    EXPECT_EQ(evidence(findings[0], "scores in B"), 16777216.0);
    EXPECT_EQ(build_report(c, false).answer[0], findings[0].claim);
    for (const Finding& f : findings)
        if (f.id == "kernels-changed") {
            EXPECT_NE(f.counter_evidence.at(0).find("inputs"), std::string::npos);
            EXPECT_EQ(f.severity, Severity::info) << "the inputs explain it";
        }
}

TEST(InputChanged, AWorkloadThatOneRunDoesNotMarkIsNoDifference) {
    BlogOptions unmarked;
    unmarked.with_workload = false;
    const Analysis a = blog(), b = blog(unmarked);
    EXPECT_TRUE(compare(a, b).inputs.empty());
}

TEST(GpuChanged, NamesBoth) {
    const Analysis a = blog();
    Analysis b = blog();
    b.device->name = "NVIDIA H100 80GB HBM3";
    b.device->sm_count = 132;
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "gpu-changed");
    ASSERT_NE(f, nullptr);
    EXPECT_NE(f->claim.find("SMs 108 -> 132"), std::string::npos) << f->claim;
}

TEST(LibraryChanged, NeedsTwoVersions) {
    const Analysis a = blog();
    Analysis b = blog();
    for (auto& [name, version] : b.libraries)
        if (name == "cudnn") version = "9.20";  // A's is unknown
    EXPECT_EQ(find(find_differences(compare(a, b)), "library-changed"), nullptr);
    for (auto& [name, version] : b.libraries)
        if (name == "libtorch") version = "2.12.0";
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "library-changed");
    ASSERT_NE(f, nullptr);
    EXPECT_NE(f->claim.find("libtorch 2.11.0 -> 2.12.0"), std::string::npos) << f->claim;
    EXPECT_NE(f->counter_evidence.at(0).find("All launches are the same"), std::string::npos);
}

// sdpa_auto with flash in A; in B flash is refused and LibTorch falls to math.
TEST(BackendChanged, SaysWhyAndWhatFollows) {
    const Analysis a = blog();
    Analysis b = blog();
    const Implementation math = *b.find("sdpa_math");
    for (Implementation& i : b.implementations)
        if (i.name == "sdpa_auto") {
            i = math;
            i.name = i.title = "sdpa_auto";
        }
    b.choice.chosen = "math";
    b.choice.refused = {{"flash", "Flash Attention does not support non-null attn_mask."}};
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "backend-changed", "sdpa_auto");
    ASSERT_NE(f, nullptr);
    EXPECT_NE(f->claim.find("by math in B, by flash in A"), std::string::npos) << f->claim;
    EXPECT_NE(f->claim.find("non-null attn_mask"), std::string::npos) << f->claim;
    EXPECT_EQ(evidence(*f, "launches in A"), 1.0);
    EXPECT_EQ(evidence(*f, "launches in B"), 20.0);
    EXPECT_EQ(evidence(*f, "score bytes in B"), 44 * 134217728.0);
}

TEST(BackendChanged, ARefusalIsOne) {
    BlogOptions refused;
    refused.refuse_flash = true;
    const Analysis a = blog(), b = blog(refused);
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "backend-changed", "sdpa_flash");
    ASSERT_NE(f, nullptr);
    EXPECT_NE(f->claim.find("ran in A and not in B: Flash Attention does not support"), std::string::npos)
        << f->claim;
    EXPECT_EQ(find(findings, "kernels-changed", "sdpa_flash"), nullptr) << "one is enough";
}

/// Math attention as LibTorch 2.11 launches it, 16-bit inputs kept or cast to fp32
/// (setAllowFP16BF16ReductionMathSDP); kernels by the words that their real names hold.
Analysis math_run(bool upcast) {
    test::ProcessWriter w;
    w.a100();
    w.mark(
        R"(attnscope.workload {"batch":8,"heads":16,"kv_heads":16,"query_length":1024,"key_length":1024,"head_dim":64,"dtype":"bf16","causal":true,"mask":"none","backward":false})");
    const auto outer = w.open("attnscope.implementation/sdpa_math");
    const auto launch = [&](const char* name) { w.kernel({name}, outer); };
    if (upcast)
        for (int i = 0; i < 3; ++i) launch("direct_copy_kernel_cuda_up");
    for (int i = 0; i < 2; ++i) launch("MulFunctor");
    launch("FillFunctor<bool>");
    launch("triu_tril_kernel");
    for (int i = 0; i < 2; ++i) launch("FillFunctor");
    launch("where_kernel_mask");
    w.gemm(upcast ? "fp32" : "bf16", 1024, 1024, 64, outer);
    for (const char* name : {"CUDAFunctor_add", "softmax_warp_forward", "isneginf_kernel", "and_kernel",
                             "FillFunctor", "where_kernel"})
        launch(name);
    w.gemm(upcast ? "fp32" : "bf16", 64, 1024, 1024, outer);
    if (upcast)
        for (int i = 0; i < 2; ++i) launch("direct_copy_kernel_cuda_down");
    w.close(outer);
    w.end();
    return test::of_lines(w);
}

// pytorch issues 141756 and 135778: five casts more, about twice the bytes of the score matrix, products off
// the tensor cores.
TEST(KernelsChanged, TheUpcastOfMath) {
    const Analysis a = math_run(false), b = math_run(true);
    const Comparison c = compare(a, b);
    const ImplementationPair& p = *pair_named(c, "sdpa_math");
    EXPECT_EQ(p.count(StepChange::added), 5.0);
    EXPECT_EQ(p.count(StepChange::gone), 0.0);
    EXPECT_EQ(p.count(StepChange::changed), 2.0) << "products of another type";
    const auto findings = find_differences(c);
    const Finding* f = find(findings, "kernels-changed", "sdpa_math");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->severity, Severity::warning);
    EXPECT_NE(f->claim.find("launches 20 in B, 15 in A"), std::string::npos) << f->claim;
    EXPECT_NE(f->claim.find("5 x cast"), std::string::npos) << f->claim;
    EXPECT_EQ(evidence(*f, "score bytes in A"), 20 * 134217728.0);
    EXPECT_EQ(evidence(*f, "score bytes in B"), 44 * 134217728.0);
    EXPECT_EQ(p.a->prediction.roof_name, "bf16 tensor cores");
    EXPECT_EQ(p.b->prediction.roof_name, "fp32 CUDA cores");
}

TEST(KernelsChanged, ResolvedCallsAreNoChange) {
    const Analysis a = blog(), b = measured_blog();
    for (const Finding& f : find_differences(compare(a, b))) EXPECT_NE(f.id, "kernels-changed") << f.claim;
}

TEST(MoreBytes, HoldsCountersAgainstTheModel) {
    const Analysis a = blog(), b = measured_blog();
    const Comparison c = compare(a, b);
    const auto findings = find_differences(c);
    const Finding* f = nullptr;
    for (const Finding& one : findings)
        if (one.id == "more-bytes-than-predicted" && one.severity == Severity::info) f = &one;
    ASSERT_NE(f, nullptr) << "all that it reads and writes, and no more";
    EXPECT_NE(f->claim.find("sdpa_flash 8 times"), std::string::npos) << f->claim;
    EXPECT_EQ(evidence(*f, "DRAM bytes of sdpa_flash in B"), 67108864.0);
    EXPECT_EQ(evidence(*f, "the model's least of sdpa_flash"), 50331648.0 - 41943040.0);
    EXPECT_EQ(evidence(*f, "the model without caches of sdpa_flash"), 67108864.0);
    EXPECT_EQ(evidence(*f, "DRAM bytes of naive in B"), -2.0) << "its copy is not counted";
    EXPECT_EQ(find(find_differences(compare(b, a)), "more-bytes-than-predicted"), nullptr)
        << "B has no counters";
}

TEST(MoreBytes, BeyondEveryByteIsAWarning) {
    const Analysis a = blog();
    Analysis b = measured_blog();
    for (Implementation& i : b.implementations)
        for (Measured& m : i.counters)
            if (i.name == "sdpa_flash" && m.role == counter_role::kDramBytes) m.value.number = 2 * 67108864.0;
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "more-bytes-than-predicted", "sdpa_flash");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->severity, Severity::warning);
    EXPECT_NE(f->claim.find("moved more than once"), std::string::npos) << f->claim;
}

TEST(LessOfTheRoof, OfAPredictionIsTheDistanceToItsBound) {
    const Analysis a = blog(), b = measured_blog(5);
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "less-of-the-roof");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->severity, Severity::info);
    EXPECT_NEAR(evidence(*f, "bound / time of sdpa_flash"), 37.5, 0.05) << "117 of 312 TFLOP/s";
    EXPECT_NE(f->claim.find("sdpa_flash 2.67 times"), std::string::npos) << f->claim;
}

TEST(LessOfTheRoof, OfTwoMeasurementsNeedsMoreThanTheSpread) {
    const Analysis a = measured_blog(5);
    Analysis b = a;
    for (Implementation& i : b.implementations)
        if (i.name == "sdpa_flash") i.time.number = *i.time.number * 1.25;
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "less-of-the-roof");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->subject, "sdpa_flash");
    EXPECT_EQ(f->severity, Severity::warning);
    EXPECT_NEAR(evidence(*f, "bound / time in B"), 37.5 / 1.25, 0.05);
    EXPECT_EQ(find(find_differences(compare(b, a)), "less-of-the-roof"), nullptr) << "B is the better one";
    for (Implementation& i : b.implementations)
        if (i.name == "sdpa_flash") i.time_iqr.number = *i.time.number * 0.5;
    EXPECT_EQ(find(find_differences(compare(a, b)), "less-of-the-roof"), nullptr) << "within the spread";
}

TEST(BoundBroken, SaysThatModelOrFigureIsWrong) {
    const Analysis a = blog();
    Analysis b = measured_blog();
    for (Implementation& i : b.implementations)
        if (i.name == "sdpa_flash") i.time.number = 20'000;  // 859 TFLOP/s of 312
    const auto findings = find_differences(compare(a, b));
    const Finding* f = find(findings, "bound-broken");
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(f->subject, "sdpa_flash");
    EXPECT_EQ(f->severity, Severity::problem);
    const Finding* roof = find(findings, "less-of-the-roof");
    ASSERT_NE(roof, nullptr);
    EXPECT_EQ(evidence(*roof, "bound / time of sdpa_flash"), -2.0) << "that one is broken";
    EXPECT_GT(evidence(*roof, "bound / time of naive"), 0.0);
    const Analysis published = measured_blog();
    EXPECT_EQ(find(find_differences(compare(a, published)), "bound-broken"), nullptr)
        << "the published times are above their bounds";
}

TEST(Findings, HaveClaimNumbersDoubtAndNextStep) {
    BlogOptions other;
    other.batch = 1;
    other.refuse_flash = true;
    const Analysis a = blog(), b = measured_blog(other);
    const auto findings = find_differences(compare(a, b));
    EXPECT_GE(findings.size(), 4U);
    for (const Finding& f : findings) {
        EXPECT_FALSE(f.claim.empty()) << f.id;
        EXPECT_FALSE(f.evidence.empty()) << f.id;
        EXPECT_FALSE(f.counter_evidence.empty()) << f.id;
        EXPECT_FALSE(f.next_step.empty()) << f.id;
    }
}

}  // namespace
}  // namespace attnscope
