// Limits, known faults, alignment, memory, and LibTorch's refusals.
#include <gtest/gtest.h>

#include "a_runs.h"

namespace attnscope::test {
namespace {

Analysis forced(const char* name, const char* backend) {
    Analysis a = clean_flash();
    a.implementations = {implementation(name, backend, {flash_step()})};
    return a;
}

TEST(CausalAlignment, UpperLeftLeavesKeysUnseen) {
    Analysis a = clean_flash();
    a.workload.query_length = 1;
    auto found = of(a, "causal-alignment");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "queries"), 1);
    EXPECT_EQ(number(found[0], "keys that no query sees"), 511);
    EXPECT_TRUE(says(found[0], "aligned upper left"));
    a.workload.query_length = 1024;
    found = of(a, "causal-alignment");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "keys that no query sees"), 0);
    a.workload.causal = false;
    EXPECT_TRUE(of(a, "causal-alignment").empty());
}

TEST(LaunchLimit, OneMoreThanTheGridHolds) {
    Analysis a = clean_flash();
    a.workload.batch = 65535;
    a.implementations[0].status = ImplementationStatus::failed;
    a.implementations[0].reason = "CUDA error: invalid configuration argument";
    EXPECT_TRUE(of(a, "launch-limit").empty()) << "65,535 fit: it failed for another reason";
    a.workload.batch = 65536;
    const auto seen = of(a, "launch-limit");
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].severity, Severity::problem);
    EXPECT_EQ(number(seen[0], "batch"), 65536);
    EXPECT_EQ(number(seen[0], "beyond the limit"), 1);
    EXPECT_TRUE(says(seen[0], "invalid configuration argument"));
    EXPECT_NE(seen[0].next_step.find("--batch 65535"), std::string::npos) << seen[0].next_step;
}

TEST(LaunchLimit, IsPredictedWhereNothingRanAndNotWhereItDid) {
    Analysis a = clean_flash();
    a.workload.heads = a.workload.kv_heads = 70000;
    EXPECT_TRUE(of(a, "launch-limit").empty()) << "it was launched";
    a.implementations.clear();
    const auto predicted = of(a, "launch-limit");
    ASSERT_EQ(predicted.size(), 1U);
    EXPECT_EQ(predicted[0].severity, Severity::warning);
    EXPECT_EQ(number(predicted[0], "heads"), 70000);
    a.choice.chosen = "math";
    EXPECT_TRUE(of(a, "launch-limit").empty());
}

TEST(LaunchLimit, EfficientIsSplitByLibTorch) {
    Analysis a = clean_flash();
    a.workload.batch = 65536;
    a.implementations.clear();
    a.choice.chosen = "efficient";
    EXPECT_TRUE(of(a, "launch-limit").empty());
}

TEST(LaunchFailed, WhatNoRecordHolds) {
    Analysis a = clean_flash();
    EXPECT_TRUE(of(a, "launch-failed").empty());
    Notice notice;
    notice.code = "launch-failed";
    notice.message = "calls that were to launch answered an error (the first: CUDA error 1)";
    notice.count = 3;
    a.notices = {notice};
    const auto found = of(a, "launch-failed");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, Severity::problem);
    EXPECT_EQ(number(found[0], "launches that failed"), 3);
    EXPECT_TRUE(says(found[0], "CUDA error 1"));
}

TEST(BackendRefused, TheNumberBehindEachSentence) {
    Analysis a = clean_flash();
    Implementation& flash = a.implementations[0];
    flash.status = ImplementationStatus::refused;
    const auto refused = [&](const char* sentence) {
        flash.reason = sentence;
        const auto found = of(a, "backend-refused");
        EXPECT_EQ(found.size(), 1U);
        return found.at(0);
    };
    a.workload.last_stride = 2;
    EXPECT_EQ(number(refused("last dimension of the input tensor must have a stride of 1"),
                     "stride of the last dimension"),
              2);
    a.device->shared_per_cta_optin = 101376;
    a.workload.head_dim = 256;
    EXPECT_EQ(number(refused("doesn't support training with head_dim"),
                     "shared memory of the backward's 64 x 64 tile"),
              147456);
    a.workload.kv_heads = 2;
    EXPECT_EQ(
        number(refused("require query, key and value to have the same num_heads"), "key and value heads"), 2);
    EXPECT_EQ(
        number(refused("only supports gpu architectures in the range [sm80, sm121]"), "compute capability"),
        9.0);
    EXPECT_EQ(refused("a sentence that nobody knows").evidence.size(), 1U) << "no number is made up";
    // What LibTorch says once, the program's first question had.
    a.choice.refused = {{"flash", "its own sentence"}};
    EXPECT_TRUE(says(refused("refused, LibTorch gives no reason"), "its own sentence"));
}

// PyTorch issue 187227 gives the first wrong row for these lengths: 73728 -> 58254, 81920 -> 52428,
// 98304 -> 43690.
TEST(IndexRange, TheFirstWrongRowIsTheReportedOne) {
    Analysis a = forced("sdpa_efficient", "efficient");
    a.workload.causal = false;
    a.workload.mask = "bool";
    for (const auto& [length, row] : {std::pair{73728.0, 58254.0}, {81920.0, 52428.0}, {98304.0, 43690.0}}) {
        a.workload.query_length = a.workload.key_length = length;
        const auto found = of(a, "index-range");
        ASSERT_EQ(found.size(), 1U) << length;
        EXPECT_EQ(found[0].severity, Severity::problem);
        EXPECT_EQ(number(found[0], "first query with a wrong mask"), row);
        EXPECT_EQ(number(found[0], "queries with a wrong one"), length - row);
    }
    a.workload.query_length = a.workload.key_length = 65536;
    EXPECT_TRUE(of(a, "index-range").empty()) << "2^32 itself fits";
    a.workload.query_length = a.workload.key_length = 73728;
    a.workload.mask = "none";
    EXPECT_TRUE(of(a, "index-range").empty());
    a.workload.dropout = 0.1;
    EXPECT_EQ(of(a, "index-range").size(), 1U) << "dropout has the same product";
}

TEST(MemoryPredicted, TheBoundAgainstTheDevice) {
    Analysis a = forced("sdpa_math", "math");
    a.implementations[0].status = ImplementationStatus::failed;
    a.implementations[0].reason = "CUDA out of memory.";
    Value& least = a.implementations[0].prediction.least_memory;
    least = Value::of(double(uint64_t(80) << 30), Unit::bytes, {Source::model, Ground::virtual_gpu});
    EXPECT_TRUE(of(a, "memory-predicted").empty()) << "as much as there is fits";
    *least.number += 1;
    const auto found = of(a, "memory-predicted");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "least peak memory"), double(uint64_t(80) << 30) + 1);
    EXPECT_EQ(number(found[0], "memory of the device"), double(uint64_t(80) << 30));
    EXPECT_TRUE(says(found[0], "CUDA out of memory"));
    a.device->memory_bytes.reset();
    EXPECT_TRUE(of(a, "memory-predicted").empty());
}

TEST(MathFallback, EveryReasonIsGivenAndAForcedMathIsNone) {
    Analysis a = clean_flash();
    a.choice.chosen = "math";
    a.choice.order = {"flash", "efficient", "math"};
    a.choice.refused = {{"flash", "Flash Attention does not support non-null attn_mask."},
                        {"efficient", "Memory efficient attention does not support grouped heads."}};
    const auto found = of(a, "math-fallback");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].subject, "sdpa_auto");
    EXPECT_EQ(found[0].severity, Severity::warning);
    EXPECT_EQ(number(found[0], "backends that refuse the call"), 2);
    EXPECT_TRUE(says(found[0], "flash: \"Flash Attention does not support non-null attn_mask\""))
        << found[0].claim;
    EXPECT_TRUE(says(found[0], "efficient: \""));
    a.choice.refused = {{"flash", "Flash attention has been runtime disabled."},
                        {"efficient", "Memory Efficient attention has been runtime disabled."}};
    EXPECT_TRUE(of(a, "math-fallback").empty()) << "the program asked for math";
}

AttentionCall call(const std::string& chosen) {
    AttentionCall c;
    c.implementation = "attention";
    c.inputs = {"fp32[1,8,128,64] strides (65536,8192,64,1)",
                "fp32[1,2,128,64] strides (16384,8192,64,1)",
                "fp32[1,2,128,64] strides (16384,8192,64,1)",
                "none",
                "0.0",
                "true",
                "none",
                "true"};
    c.choice.chosen = chosen;
    c.choice.order = {"flash", "efficient", "math", "cudnn"};
    c.choice.backends = {{"flash", {"Expected dtype"}, {"dtype-bf16"}, {}},
                         {"efficient", {"grouped", "hardware"}, {"heads"}, {}},
                         {"cudnn", {"no fp32"}, {}, {}},
                         {"math", {}, {}, {}}};
    return c;
}

TEST(MathFallback, OfAProgramsOwnCallNamesWhatWouldRefuseNext) {
    Analysis a = clean_flash();
    a.has_convention = false;
    a.workload = {};
    a.calls = {call("math")};
    const auto found = of(a, "math-fallback");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].subject, "attention");
    EXPECT_EQ(number(found[0], "backends that refuse the call"), 3);
    EXPECT_TRUE(says(found[0], "efficient: \"grouped\"; without that it would then be refused: \"hardware\""))
        << found[0].claim;
    EXPECT_TRUE(says(found[0], "fp32[1,8,128,64]"));
    EXPECT_NE(found[0].next_step.find("attnscope collect"), std::string::npos);
}

TEST(NoBackend, EachSentenceOfLibTorch) {
    Analysis a = clean_flash();
    a.has_convention = false;
    a.workload = {};
    a.calls = {call("none")};
    a.calls[0].choice.backends[3].refused = {"Math backend has been runtime disabled."};
    const auto found = of(a, "no-backend");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, Severity::problem);
    EXPECT_EQ(number(found[0], "backends that are refused or switched off"), 4);
    EXPECT_EQ(number(found[0], "compute capability"), 9.0);
    EXPECT_TRUE(says(found[0], "math: \"Math backend has been runtime disabled\"")) << found[0].claim;
}

TEST(KnownWrongResults, OnlyWithVersionGpuAndCondition) {
    Analysis a = forced("sdpa_cudnn", "cudnn");
    a.workload.causal = false;
    a.workload.mask = "bool";
    a.workload.backward = true;
    a.workload.query_length = a.workload.key_length = 704;
    const auto found = of(a, "known-wrong-results");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "key length modulo 128"), 64);
    EXPECT_TRUE(says(found[0], "PyTorch issue 196678"));
    a.workload.query_length = a.workload.key_length = 640;
    EXPECT_TRUE(of(a, "known-wrong-results").empty()) << "640 is clean";
    a.workload.query_length = a.workload.key_length = 704;
    a.workload.mask = "none";
    EXPECT_TRUE(of(a, "known-wrong-results").empty()) << "without a mask it is clean";
    a.workload.mask = "bool";
    a.libraries = {{"cudnn", "9.20.0"}};
    EXPECT_TRUE(of(a, "known-wrong-results").empty()) << "nothing was published of this version";
    a.libraries = {{"cudnn", ""}};
    EXPECT_TRUE(of(a, "known-wrong-results").empty());
}

TEST(KnownWrongResults, FewKeyHeadsOnB200) {
    Analysis a = forced("sdpa_cudnn", "cudnn");
    a.device->major = 10;
    a.workload.heads = 28;
    a.workload.kv_heads = 4;
    const auto found = of(a, "known-wrong-results");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "key and value heads"), 4);
    a.workload.heads = 32;
    a.workload.kv_heads = 8;
    EXPECT_TRUE(of(a, "known-wrong-results").empty()) << "8 were seen to be right";
}

TEST(ScoreMatrixWritten, TheShareOfTheBytesAndOfTheTime) {
    Analysis a = forced("sdpa_math", "math");
    Implementation& math = a.implementations[0];
    math.steps = {step(Role::gemm, {}, {}), step(Role::softmax, {}, {}), step(Role::gemm, {}, {})};
    const Provenance model{Source::model, a.ground};
    math.score_bytes = Value::of(800, Unit::bytes, model);
    math.prediction.bytes = Value::of(1000, Unit::bytes, model);
    auto found = of(a, "score-matrix-written");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "score-matrix bytes of sdpa_math"), 800);
    EXPECT_EQ(number(found[0], "share of the bytes of sdpa_math"), 80);
    EXPECT_EQ(evidence(found[0], "share of the GPU time in masks and softmax of sdpa_math"), nullptr)
        << "no time, no share";
    a.ground = Ground::real;
    for (size_t i = 0; i < math.steps.size(); ++i)
        math.steps[i].time = Value::of(i == 1 ? 60e3 : 20e3, Unit::nanoseconds, {Source::trace, a.ground});
    found = of(a, "score-matrix-written");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(number(found[0], "share of the GPU time in masks and softmax of sdpa_math"), 60);
}

TEST(Findings, AreComplete) {
    std::vector<Analysis> all;
    for (const char* backend : {"efficient", "cudnn", "math"}) {
        Analysis a = forced("sdpa_x", backend);
        a.workload.mask = "repeated";
        a.workload.query_length = 90000;
        a.workload.key_length = 80064;
        a.workload.batch = 70000;
        a.workload.backward = true;
        a.choice.chosen = "math";
        a.choice.refused = {{"flash", "no"}};
        a.implementations[0].status = ImplementationStatus::failed;
        a.implementations[0].reason = "invalid configuration argument. No available kernel.";
        a.implementations[0].prediction.least_memory =
            Value::of(1e15, Unit::bytes, {Source::model, a.ground});
        all.push_back(a);
    }
    size_t ours = 0;
    for (const Analysis& a : all)
        for (const Finding& f : find_all(a)) {
            ++ours;
            EXPECT_FALSE(f.id.empty() || f.subject.empty() || f.claim.empty()) << f.id;
            EXPECT_NE(f.claim.find_first_of("0123456789"), std::string::npos) << f.claim;
            EXPECT_TRUE(std::any_of(f.evidence.begin(), f.evidence.end(), [](const Evidence& e) {
                return bool(e.value);
            })) << f.id;
            EXPECT_FALSE(f.counter_evidence.empty()) << f.id;
            EXPECT_NE(f.next_step.find("attnscope "), std::string::npos) << f.next_step;
        }
    EXPECT_GT(ours, 6U);
}

}  // namespace
}  // namespace attnscope::test
