// What launched a launch, and which implementation made which call of scaled_dot_product_attention:
// hand-written runs with the fields of schema/README.md, "Operations".
#include <gtest/gtest.h>

#include "attnscope/analysis.h"
#include "run_writer.h"

namespace attnscope {
namespace {

using test::ProcessWriter;

Analysis analyzed(const ProcessWriter& w) {
    test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.json", test::run_json("virtual", "1.1"));
    test::write_text(folder.path() / "p.jsonl", w.text());
    return analyze(read_run(folder.path()));
}

const std::string kTensor = "bf16[8,16,1024,64] strides (1048576,65536,64,1)";

test::KernelSpec named(const std::string& name) {
    return {"_Z" + std::to_string(name.size()) + name + "v"};
}

TEST(Origins, TheChainInnermostFirstWithTheInnermostInputs) {
    ProcessWriter w;
    w.a100();
    const auto attention = w.operation("aten::scaled_dot_product_attention", 0, {kTensor, kTensor, kTensor});
    const auto flash = w.operation("aten::_scaled_dot_product_flash_attention", attention, {kTensor});
    const auto forward = w.operation("aten::_flash_attention_forward", flash, {kTensor, "true", "0.125"});
    const auto implementation = w.open("attnscope.implementation/sdpa_flash");
    const auto iteration = w.open("attnscope.iteration", implementation);
    const auto layer = w.open("layer 3", iteration);
    w.under(forward, 1);
    w.kernel(named("flash"), layer);
    w.under(0, 0);
    w.kernel(named("own"), iteration);
    w.end();
    const Analysis a = analyzed(w);
    ASSERT_EQ(a.implementations.size(), 1U);
    const auto& steps = a.implementations[0].steps;
    ASSERT_EQ(steps.size(), 2U);
    const StepOrigin& origin = steps[0].origin;
    EXPECT_EQ(origin.operations, (std::vector<std::string>{"aten::_flash_attention_forward",
                                                           "aten::_scaled_dot_product_flash_attention",
                                                           "aten::scaled_dot_product_attention"}));
    EXPECT_EQ(origin.inputs, (std::vector<std::string>{kTensor, "true", "0.125"}));
    EXPECT_TRUE(origin.under("aten::scaled_dot_product_attention"));
    EXPECT_FALSE(origin.under("aten::mm"));
    EXPECT_FALSE(origin.backward);
    EXPECT_EQ(origin.range, "layer 3") << "attnscope's own ranges are not the program's";
    EXPECT_TRUE(steps[1].origin.operations.empty());
    EXPECT_EQ(steps[1].origin.range, "");
}

TEST(Origins, BackwardNamesWhatItIsTheDerivativeOf) {
    ProcessWriter w;
    w.a100();
    const auto forward = w.operation("aten::mm", 0, {"bf16[4,8]", "bf16[8,4]"});
    const auto node = w.operation("MmBackward0", 0, {"bf16[4,4]"},
                                  ",\"scope\":\"backward\",\"forward\":" + std::to_string(forward));
    const auto inner = w.operation("aten::mm", node, {"bf16[8,4]", "bf16[4,4]"});
    w.under(forward, 1);
    w.kernel(named("gemm"), 0);
    w.under(inner, 2);
    w.kernel(named("gemm"), 0);
    w.end();
    const Analysis a = analyzed(w);
    ASSERT_EQ(a.implementations.size(), 1U);
    const auto& steps = a.implementations[0].steps;
    ASSERT_EQ(steps.size(), 2U) << "the same kernel of two operations is two steps";
    EXPECT_FALSE(steps[0].origin.backward);
    EXPECT_TRUE(steps[1].origin.backward);
    EXPECT_EQ(steps[1].origin.forward, "aten::mm");
    EXPECT_EQ(steps[1].origin.operations, (std::vector<std::string>{"aten::mm", "MmBackward0"}));
}

TEST(Origins, ANumberThatChangesWithEachCallMakesNoSteps) {
    ProcessWriter w;
    w.a100();
    for (int i = 0; i < 5; ++i) {
        w.under(w.operation("aten::mul", 0, {kTensor, std::to_string(i)}), uint64_t(i) + 1);
        w.kernel(named("scale"), 0);
    }
    w.under(w.operation("aten::mul", 0, {"bf16[8,16,1024,64] strides (1048576,64,1024,1)", "0"}), 6);
    w.kernel(named("scale"), 0);
    w.end();
    const Analysis a = analyzed(w);
    ASSERT_EQ(a.implementations.at(0).steps.size(), 2U)
        << "other strides are another row, other numbers are not";
    EXPECT_EQ(a.implementations[0].steps[0].times, 5U);
    EXPECT_EQ(a.implementations[0].steps[1].times, 1U);
}

TEST(Origins, IterationsAreComparedByWhatWasLaunched) {
    ProcessWriter w;
    w.a100();
    const auto implementation = w.open("attnscope.implementation/own");
    for (int i = 0; i < 2; ++i) {
        const auto iteration = w.open("attnscope.iteration", implementation);
        w.under(w.operation("aten::op" + std::to_string(i), 0, {}), uint64_t(i) + 1);
        w.kernel(named("same"), iteration);
        w.close(iteration);
    }
    w.end();
    const Analysis a = analyzed(w);
    EXPECT_TRUE(a.implementations.at(0).iterations_equal);
    EXPECT_EQ(a.implementations[0].steps.at(0).origin.operations.at(0), "aten::op0");
}

TEST(Origins, RangesWhereThereAreNoOperations) {
    ProcessWriter w;
    w.a100();
    const auto step = w.open("train", 0, "thread");
    for (const char* name : {"attention", "mlp", "attention"}) {
        const auto range = w.open(name, step, "thread");
        w.kernel(named("add"), range);
    }
    w.end();
    const Analysis a = analyzed(w);
    const auto& steps = a.implementations.at(0).steps;
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[0].origin.range, "attention");
    EXPECT_EQ(steps[0].times, 2U);
    EXPECT_EQ(steps[1].origin.range, "mlp");

    ProcessWriter many;
    many.a100();
    const auto outer = many.open("train", 0, "thread");
    for (int i = 0; i < 100; ++i)
        many.kernel(named("add"), many.open("step " + std::to_string(i), outer, "thread"));
    many.end();
    EXPECT_EQ(analyzed(many).implementations.at(0).steps.size(), 1U)
        << "a name that changes each time is no group";
}

/// One call of attention; returns the operation that launches its kernel.
uint64_t attention(ProcessWriter& w, const std::string& chosen, const std::string& more = {}) {
    const auto call =
        w.operation("aten::scaled_dot_product_attention", 0, {kTensor, kTensor, kTensor, "none"});
    w.line(R"({"type":"attention_choice","op":)" + std::to_string(call) + R"(,"chosen":")" + chosen +
           R"(","order":["flash","efficient","math","cudnn"])" + more + "}");
    return w.operation("aten::_" + chosen, call, {kTensor});
}

TEST(Calls, BelongToTheImplementationThatLaunchedThem) {
    ProcessWriter w;
    w.a100();
    const auto flash =
        attention(w, "flash",
                  R"(,"refused_flash":[],"removed_flash":[],"hidden_flash":["pad-head-dim 12582912"],)"
                  R"("refused_cudnn":["first","second"],"removed_cudnn":["mask"],"hidden_cudnn":[])");
    const auto math = attention(w, "math");
    const auto unused = attention(w, "efficient");
    (void)unused;
    const auto one = w.open("attnscope.implementation/sdpa_auto");
    const auto warmup = w.open("attnscope.warmup", one);
    w.under(flash, 1);
    w.kernel(named("flash"), warmup);
    w.close(warmup);
    const auto iteration = w.open("attnscope.iteration", one);
    w.under(flash, 2);
    w.kernel(named("flash"), iteration);
    w.close(iteration);
    w.close(one);
    const auto two = w.open("attnscope.implementation/sdpa_math");
    const auto set_up = w.open("attnscope.warmup", two);
    w.under(math, 3);
    w.kernel(named("softmax"), set_up);
    w.close(set_up);
    w.under(0, 0);
    const auto plain = w.open("attnscope.iteration", two);
    w.kernel(named("other"), plain);
    w.end();
    const Analysis a = analyzed(w);
    EXPECT_EQ(a.calls_absent, "");
    ASSERT_EQ(a.calls.size(), 3U);
    EXPECT_EQ(a.calls[0].implementation, "sdpa_auto");
    EXPECT_EQ(a.calls[0].choice.chosen, "flash");
    EXPECT_TRUE(a.calls[0].counted_iteration) << "the warm-up came first, an iteration followed";
    EXPECT_EQ(a.calls[0].inputs.size(), 4U);
    ASSERT_EQ(a.calls[0].choice.backends.size(), 2U);
    ASSERT_EQ(a.calls[0].choice.backends[0].hidden.size(), 1U);
    EXPECT_EQ(a.calls[0].choice.backends[0].hidden[0].bytes, 12582912U);
    EXPECT_EQ(a.calls[0].choice.backends[1].refused, (std::vector<std::string>{"first", "second"}));
    EXPECT_EQ(a.calls[1].implementation, "sdpa_math");
    EXPECT_FALSE(a.calls[1].counted_iteration);
    EXPECT_EQ(a.calls[2].implementation, "") << "it launched nothing";
}

TEST(Calls, OneSignatureInTwoImplementationsIsTwoCalls) {
    ProcessWriter w;
    w.a100();
    const auto flash = attention(w, "flash");
    for (const char* name : {"layer A", "layer B"}) {
        const auto range = w.open(name);
        w.under(flash, 1);
        w.kernel(named("flash"), range);
    }
    w.end();
    const Analysis a = analyzed(w);
    ASSERT_EQ(a.calls.size(), 2U);
    EXPECT_EQ(a.calls[0].implementation, "layer A");
    EXPECT_EQ(a.calls[1].implementation, "layer B");
}

TEST(Calls, WhyThereAreNone) {
    const auto absent = [](const std::string& code, bool operations) {
        ProcessWriter w;
        w.a100();
        if (!code.empty())
            w.line(R"({"type":"diagnostic","severity":"info","code":")" + code +
                   R"(","message":"because of )" + code + R"(","count":1})");
        if (operations) w.under(w.operation("aten::mm", 0, {}), 1);
        w.kernel(named("k"), 0);
        w.end();
        return analyzed(w).calls_absent;
    };
    for (const char* code :
         {"operations-off", "operations-absent", "operations-other-libtorch", "operations-failed"})
        EXPECT_EQ(absent(code, false), std::string("because of ") + code);
    EXPECT_NE(absent("", false).find("holds no operations"), std::string::npos);
    EXPECT_NE(absent("", true).find("no scaled_dot_product_attention"), std::string::npos);
    EXPECT_NE(absent("operations-many", true).find("no scaled_dot_product_attention"), std::string::npos);
    ProcessWriter empty;
    empty.end();
    EXPECT_EQ(analyzed(empty).calls_absent, "no launch was recorded");
}

// A chain as deep as the format allows costs no more than 64 names a step.
TEST(Origins, ADamagedChainIsCut) {
    ProcessWriter w;
    w.a100();
    uint64_t parent = 0;
    for (int i = 0; i < 5000; ++i) parent = w.operation("aten::deep" + std::to_string(i), parent, {});
    w.under(parent, 1);
    for (int i = 0; i < 200; ++i) w.kernel(named("k"), 0);
    w.end();
    const Analysis a = analyzed(w);
    ASSERT_EQ(a.implementations.at(0).steps.size(), 1U);
    EXPECT_EQ(a.implementations[0].steps[0].origin.operations.size(), 64U);
    EXPECT_EQ(a.implementations[0].steps[0].origin.operations[0], "aten::deep4999");
}

}  // namespace
}  // namespace attnscope
