// What launched each kernel and why a backend was chosen: unmodified LibTorch on the virtual GPU, as the
// report tells it.
#include <gtest/gtest.h>

#include <algorithm>

#include "attnscope/render.h"
#include "harness.h"

namespace attnscope::test {
namespace {

const std::vector<std::string> kBlogShape = {"--batch", "8",          "--heads", "16",      "--seq",
                                             "1024",    "--head-dim", "64",      "--dtype", "bf16"};

const Implementation& implementation(const AttentionRun& run, const std::string& name) {
    for (const Implementation& candidate : run.analysis.implementations)
        if (candidate.name == name) return candidate;
    throw std::runtime_error("no implementation " + name + " in the run:\n" + run.outcome.err);
}

const AttentionCall& call_of(const AttentionRun& run, const std::string& name) {
    for (const AttentionCall& call : run.analysis.calls)
        if (call.implementation == name) return call;
    throw std::runtime_error("no call of " + name);
}

const AttentionChoice::Backend& backend(const AttentionCall& call, const std::string& name) {
    for (const auto& b : call.choice.backends)
        if (b.name == name) return b;
    throw std::runtime_error("no backend " + name);
}

TEST(Reasons, EveryLaunchOfTheBlogsShapeHasItsOperation) {
    const AttentionRun run = attention("virtual:A100-SXM4-80GB", kBlogShape);
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    for (const Implementation& i : run.analysis.implementations)
        for (const Step& s : i.steps) {
            ASSERT_FALSE(s.origin.operations.empty()) << i.title << ": " << s.name;
            EXPECT_FALSE(s.origin.backward);
            if (i.name.starts_with("sdpa")) {
                EXPECT_EQ(s.origin.operations.back(), "aten::scaled_dot_product_attention") << s.name;
            }
        }
    // Right values: LibTorch's own sources (native_functions.yaml; attention.cpp calls these).
    EXPECT_EQ(implementation(run, "sdpa_flash").steps.at(0).origin.operations.front(),
              "aten::_flash_attention_forward");
    EXPECT_EQ(implementation(run, "sdpa_efficient").steps.at(0).origin.operations.front(),
              "aten::_efficient_attention_forward");
    EXPECT_TRUE(implementation(run, "sdpa_math")
                    .steps.at(0)
                    .origin.under("aten::_scaled_dot_product_attention_math"));
    // The copy of the score matrix is masked_fill's own: it clones what it does not own.
    const auto& naive = implementation(run, "naive").steps;
    const auto copy =
        std::find_if(naive.begin(), naive.end(), [](const Step& s) { return s.copy_kind == "DtoD"; });
    ASSERT_NE(copy, naive.end());
    EXPECT_TRUE(copy->origin.under("aten::masked_fill"));
    for (const Step& s : implementation(run, "naive_inplace").steps)
        EXPECT_FALSE(s.origin.under("aten::masked_fill"));
    const Report report = build_report(run.analysis);
    const std::string page = render_html(report), text = render_markdown(report);
    for (const char* part :
         {"_flash_attention_forward", "Backend choice", "Prediction: what it must cost at least"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
        EXPECT_NE(text.find(part), std::string::npos) << part;
    }
}

TEST(Reasons, EachImplementationMadeItsOwnCall) {
    const AttentionRun run = attention("virtual:H100-SXM5", kBlogShape);
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    EXPECT_EQ(run.analysis.calls_absent, "");
    for (const char* name : {"math", "efficient", "flash", "cudnn"})
        EXPECT_EQ(call_of(run, std::string("sdpa_") + name).choice.chosen, name);
    const AttentionCall& free = call_of(run, "sdpa_auto");
    EXPECT_EQ(free.choice.chosen, "cudnn") << "facts 1.1: cuDNN first on sm_90 in LibTorch 2.11";
    EXPECT_TRUE(free.counted_iteration);
    ASSERT_GE(free.inputs.size(), 8U);
    EXPECT_EQ(free.inputs[0], "bf16[8,16,1024,64] strides (1048576,65536,64,1)");
    EXPECT_EQ(free.inputs[5], "true");
}

TEST(Reasons, AMaskIsRefusedByFlashInLibTorchsWords) {
    const AttentionRun run = attention(
        "virtual:A100-SXM4-80GB", {"--only", "sdpa_auto", "--batch", "2", "--mask", "bool", "--no-causal"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    const auto& flash = backend(call_of(run, "sdpa_auto"), "flash");
    ASSERT_FALSE(flash.refused.empty());
    EXPECT_NE(flash.refused[0].find("does not support non-null attn_mask"), std::string::npos)
        << flash.refused[0];
    EXPECT_EQ(flash.removed, (std::vector<std::string>{"mask"}))
        << "and without it flash would take the call";
    const std::string json = render_json(build_report(run.analysis));
    EXPECT_NE(json.find("Without the mask it would take the call."), std::string::npos);
}

TEST(Reasons, TheBackwardPassNamesWhatItDerives) {
    const AttentionRun run =
        attention("virtual:A100-SXM4-80GB", {"--only", "sdpa_flash", "--batch", "2", "--backward"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    size_t backward = 0;
    for (const Step& s : implementation(run, "sdpa_flash").steps) {
        if (s.full_name.find("flash_bwd") == std::string::npos) continue;
        ++backward;
        EXPECT_TRUE(s.origin.backward) << s.name;
        EXPECT_EQ(s.origin.forward, "aten::_scaled_dot_product_flash_attention") << s.name;
    }
    EXPECT_EQ(backward, 3U) << "dot_do_o, dq_dk_dv, convert_dq (facts 1.5)";
}

TEST(Reasons, SwitchedOffTheReportSaysSo) {
    ::setenv("ATTNSCOPE_OPERATIONS", "0", 1);
    const AttentionRun run = attention("virtual:A100-SXM4-80GB", {"--only", "sdpa_flash", "--batch", "2"});
    ::unsetenv("ATTNSCOPE_OPERATIONS");
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    EXPECT_TRUE(run.analysis.calls.empty());
    EXPECT_NE(run.analysis.calls_absent.find("ATTNSCOPE_OPERATIONS=0"), std::string::npos)
        << run.analysis.calls_absent;
    for (const Step& s : implementation(run, "sdpa_flash").steps) EXPECT_TRUE(s.origin.operations.empty());
}

}  // namespace
}  // namespace attnscope::test
