// Comparisons of unmodified LibTorch's launches on virtual GPUs.
#include <gtest/gtest.h>

#include "../end_to_end/harness.h"
#include "attnscope/compare.h"

namespace attnscope::test {
namespace {

AttentionRun on(const std::string& gpu, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--iterations", "1", "--warmup", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return attention("virtual:" + gpu, arguments);
}

const ImplementationPair* pair_named(const Comparison& c, const std::string& name) {
    for (const ImplementationPair& p : c.pairs)
        if (p.a->name == name) return &p;
    return nullptr;
}

const Finding* find(const std::vector<Finding>& findings, const std::string& id) {
    for (const Finding& f : findings)
        if (f.id == id) return &f;
    return nullptr;
}

// On an H100 LibTorch 2.11 prefers cuDNN, on an A100 flash; both run the same flash tile of head_dim 64.
TEST(CompareLibTorch, AnA100WithAnH100) {
    const AttentionRun a = on("A100-SXM4-80GB", {"--only", "naive,sdpa_flash,sdpa_auto"});
    const AttentionRun b = on("H100-SXM5", {"--only", "naive,sdpa_flash,sdpa_auto"});
    ASSERT_EQ(a.outcome.exit_code, 0) << a.outcome.err;
    ASSERT_EQ(b.outcome.exit_code, 0) << b.outcome.err;
    const Comparison c = compare(a.analysis, b.analysis);
    EXPECT_TRUE(c.inputs.empty());
    ASSERT_FALSE(c.machine.empty());
    EXPECT_EQ(c.machine[0].what, "GPU");
    const ImplementationPair& flash = *pair_named(c, "sdpa_flash");
    EXPECT_EQ(
        flash.count(StepChange::added) + flash.count(StepChange::gone) + flash.count(StepChange::replaced),
        0);
    EXPECT_EQ(flash.figure("bound").relation, Relation::less);
    EXPECT_EQ(flash.figure("useful_flops").relation, Relation::equal);
    EXPECT_EQ(pair_named(c, "naive")->count(StepChange::added), 0);
    const auto findings = find_differences(c);
    EXPECT_NE(find(findings, "gpu-changed"), nullptr);
    const Finding* backend = find(findings, "backend-changed");
    ASSERT_NE(backend, nullptr);
    EXPECT_EQ(backend->subject, "sdpa_auto");
    EXPECT_NE(backend->claim.find("by cudnn in B, by flash in A"), std::string::npos) << backend->claim;
}

TEST(CompareLibTorch, CausalWithNot) {
    const AttentionRun a = on("A100-SXM4-80GB", {"--only", "naive,sdpa_math,sdpa_flash", "--causal"});
    const AttentionRun b = on("A100-SXM4-80GB", {"--only", "naive,sdpa_math,sdpa_flash", "--no-causal"});
    ASSERT_EQ(a.outcome.exit_code, 0) << a.outcome.err;
    ASSERT_EQ(b.outcome.exit_code, 0) << b.outcome.err;
    const Comparison c = compare(a.analysis, b.analysis);
    ASSERT_EQ(c.inputs.size(), 1U);
    EXPECT_EQ(c.inputs[0].what, "causal");
    EXPECT_EQ(find_differences(c).at(0).id, "input-changed");
    // The copy and the mask; of math the five kernels that make the mask and the one that adds it.
    EXPECT_EQ(pair_named(c, "naive")->count(StepChange::gone), 2);
    EXPECT_EQ(pair_named(c, "naive")->count(StepChange::same), 4);
    EXPECT_EQ(pair_named(c, "sdpa_math")->count(StepChange::gone), 6);
    EXPECT_EQ(pair_named(c, "sdpa_math")->count(StepChange::same), 14);
    EXPECT_EQ(pair_named(c, "sdpa_math")->count(StepChange::added), 0);
    EXPECT_EQ(pair_named(c, "sdpa_flash")->figure("useful_flops").ratio(), 2.0);
}

// pytorch issues 141756 and 135778: what the upcast of math attention costs.
TEST(CompareLibTorch, MathWithItsUpcast) {
    const AttentionRun a = on("A100-SXM4-80GB", {"--only", "sdpa_math", "--reduced-precision-math"});
    const AttentionRun b = on("A100-SXM4-80GB", {"--only", "sdpa_math"});
    ASSERT_EQ(a.outcome.exit_code, 0) << a.outcome.err;
    ASSERT_EQ(b.outcome.exit_code, 0) << b.outcome.err;
    const Comparison c = compare(a.analysis, b.analysis);
    const ImplementationPair& p = *pair_named(c, "sdpa_math");
    EXPECT_EQ(p.figure("launches").a.number, 15.0);
    EXPECT_EQ(p.figure("launches").b.number, 20.0);
    EXPECT_EQ(p.count(StepChange::added) - p.count(StepChange::gone), 5);
    EXPECT_EQ(p.figure("score_bytes").ratio(), 44.0 / 20);
    EXPECT_EQ(p.a->prediction.roof_name, "bf16 tensor cores");
    EXPECT_EQ(p.b->prediction.roof_name, "fp32 CUDA cores");
    const auto findings = find_differences(c);
    const Finding* kernels = find(findings, "kernels-changed");
    ASSERT_NE(kernels, nullptr);
    EXPECT_NE(kernels->claim.find("launches 20 in B, 15 in A"), std::string::npos) << kernels->claim;
}

}  // namespace
}  // namespace attnscope::test
