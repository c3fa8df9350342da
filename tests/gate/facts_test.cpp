// What a run offers to the gate, held to the published numbers of the A100 run.
#include <gtest/gtest.h>

#include "attnscope/error.h"
#include "sample.h"

namespace attnscope::gate {
namespace {

using namespace test;

double of(const GateFacts& facts, const char* subject, const char* metric) {
    const Subject* s = facts.find(subject);
    const Measurement* m = s ? s->find(metric) : nullptr;
    return m && m->known() ? m->number() : -1;
}

const Part* only_kernel(const GateFacts& facts, const char* subject, const char* name) {
    const Part* found = nullptr;
    for (const Part& p : facts.find(subject)->parts)
        if (p.level == Level::kernel && p.title().find(name) != std::string::npos) found = &p;
    return found;
}

TEST(GateFacts, HoldThePublishedLaunchesCopiesAndResources) {
    const GateFacts facts = blog_facts();
    EXPECT_TRUE(facts.unusable.empty()) << facts.unusable.front();
    EXPECT_EQ(facts.gpu, "NVIDIA A100-SXM4-80GB");
    EXPECT_EQ(facts.ground, Ground::virtual_gpu);
    EXPECT_EQ(of(facts, "naive", "launches"), 6);
    EXPECT_EQ(of(facts, "naive_inplace", "launches"), 5);
    EXPECT_EQ(of(facts, "sdpa_math", "launches"), 20);
    EXPECT_EQ(of(facts, "sdpa_math", "kernels"), 18);
    EXPECT_EQ(of(facts, "sdpa_math", "library_calls"), 2);
    EXPECT_EQ(of(facts, "sdpa_flash", "launches"), 1);
    EXPECT_EQ(of(facts, "naive", "copied_bytes"), attnscope::test::kScoreBytes);
    EXPECT_EQ(facts.find("sdpa_flash")->find("backend")->text, "flash");
    const Part* flash = only_kernel(facts, "sdpa_flash", "flash_fwd");
    ASSERT_TRUE(flash);
    EXPECT_EQ(flash->find("registers")->number(), 255);
    EXPECT_EQ(flash->find("shared")->number(), 49152);
    EXPECT_EQ(flash->find("local")->number(), 88);
    EXPECT_EQ(flash->find("occupancy")->number(), 12.5);
    EXPECT_EQ(flash->find("count")->number(), 1);
}

TEST(GateFacts, PartsAddUpToTheLaunches) {
    for (const Subject& s : blog_facts().subjects) {
        double launches = 0;
        for (const Part& p : s.parts) launches += p.find("count")->number();
        EXPECT_EQ(launches, s.find("launches")->number()) << s.name;
    }
}

TEST(GateFacts, LibraryCallsAreKnownByOperationAndCopiesByBytes) {
    const GateFacts facts = blog_facts();
    double calls = 0, bytes = 0;
    for (const Part& p : facts.find("naive")->parts) {
        if (p.level == Level::library_call) {
            calls += p.find("count")->number();
            EXPECT_FALSE(p.find("registers"));
        }
        if (p.level == Level::copy) bytes += p.find("bytes")->number();
    }
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(bytes, attnscope::test::kScoreBytes);
}

TEST(GateFacts, KernelsThatALibraryChoosesAreKnownByOperationToo) {
    // Names as cuBLAS, cuDNN and a user's Triton program give them on an A100 or H100.
    attnscope::test::ProcessWriter w("real");
    w.a100();
    const auto range = w.open("mine");
    w.under(w.operation("aten::mm", 0, {"bf16[4,8]", "bf16[8,4]"}), 1);
    w.kernel({"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"}, range);
    w.kernel({"_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiEEvv"}, range);
    w.under(w.operation("aten::_cudnn_attention_forward", 0, {}), 2);
    w.kernel({"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7"}, range);
    w.under(0, 0);
    w.kernel({"my_gemm_kernel"}, range);
    w.end();
    const attnscope::test::TemporaryFolder folder;
    attnscope::test::write_text(folder.path() / "run.json", attnscope::test::run_json("real"));
    attnscope::test::write_text(folder.path() / "p.jsonl", w.text());
    const attnscope::Run run = read_run(folder.path());
    const GateFacts facts = facts_of(run, analyze(run));
    ASSERT_EQ(facts.subjects.size(), 1u);
    const Subject& mine = facts.subjects.front();
    const Part* products = mine.find_part(Level::library_call, "aten::mm", "cuBLAS kernel");
    ASSERT_TRUE(products);
    EXPECT_EQ(products->find("count")->number(), 2);
    EXPECT_FALSE(products->find("registers")) << "they change with the library";
    EXPECT_TRUE(mine.find_part(Level::library_call, "aten::_cudnn_attention_forward", "cuDNN kernel"));
    EXPECT_TRUE(mine.find_part(Level::kernel, "mine", "my_gemm_kernel")) << "the user's own is the user's";
}

TEST(GateFacts, WhatIsMissingIsAbsentNeverZero) {
    const GateFacts facts = blog_facts();
    const Subject* cudnn = facts.find("sdpa_cudnn");
    ASSERT_TRUE(cudnn);
    EXPECT_EQ(cudnn->find("time"), nullptr) << "a virtual GPU has no time";
    for (const Subject& s : facts.subjects)
        for (const Measurement& m : s.measurements)
            EXPECT_NE(m.known(), !m.absent.empty()) << s.name << " " << m.metric;
}

TEST(GateFacts, ARealRunHasATimeAndARefusedOneItsReason) {
    attnscope::test::BlogOptions options;
    options.ground = "real";
    options.times = true;
    options.refuse_flash = true;
    const GateFacts facts = blog_facts(options);
    EXPECT_GT(of(facts, "sdpa_efficient", "time"), 0);
    EXPECT_EQ(facts.find("sdpa_flash")->find("status")->text, "refused");
    EXPECT_FALSE(facts.find("sdpa_flash")->reason.empty());
    EXPECT_TRUE(facts.find("sdpa_flash")->parts.empty());
    EXPECT_FALSE(facts.find("sdpa_flash")->find("launches")->known());
}

TEST(GateJoin, SamplesGrowAndExactValuesMustAgree) {
    GateFacts a = small_facts(), b = small_facts();
    measurement(b, "fused", "dram_read").samples = {1010000};
    part_measurement(b, "fused", "flash_fwd_kernel<64>", "registers").samples = {129};
    const GateFacts both = join({a, b});
    EXPECT_EQ(both.runs, 2u);
    EXPECT_EQ(both.find("fused")->find("dram_read")->samples, (std::vector<double>{1000000, 1010000}));
    EXPECT_EQ(both.find("fused")->find("dram_read")->number(), 1005000);
    EXPECT_EQ(both.find("fused")->find("launches")->samples, std::vector<double>{1});
    const Measurement* registers = both.find("fused")->parts.front().find("registers");
    EXPECT_FALSE(registers->known());
    EXPECT_NE(registers->absent.find("differ"), std::string::npos);
}

TEST(GateJoin, AKernelThatNotEveryRunHasIsNotACount) {
    GateFacts a = small_facts(), b = small_facts();
    subject(b, "plain").parts.pop_back();
    for (const GateFacts& both : {join({a, b}), join({b, a})}) {
        const Part* copy = both.find("plain")->find_part(Level::copy, "aten::masked_fill", "DtoD");
        ASSERT_TRUE(copy);
        EXPECT_FALSE(copy->find("count")->known());
    }
}

TEST(GateJoin, ARunThatFailedBeforeItUsedAGpuIsNotOfAnotherMachine) {
    GateFacts failed;
    failed.unusable = {"the program ended with exit code 1"};
    for (const GateFacts& both : {join({small_facts(), failed}), join({failed, small_facts()})}) {
        EXPECT_EQ(both.unusable, failed.unusable);
        EXPECT_EQ(both.gpu, "NVIDIA Test GPU");
        EXPECT_EQ(both.runs, 2u);
    }
}

TEST(GateJoin, RefusesOtherGpusAndNamesOtherInputs) {
    GateFacts a = small_facts(), b = small_facts();
    b.gpu = "NVIDIA Other GPU";
    EXPECT_THROW(join({a, b}), Error);
    EXPECT_THROW(join({}), Error);
    b = small_facts();
    b.inputs[1].value = "fp32";
    ASSERT_EQ(join({a, b}).unusable.size(), 1u);
    EXPECT_NE(join({a, b}).unusable.front().find("dtype"), std::string::npos);
}

TEST(GateMetrics, NamesAreUniqueAndLevelsAreSet) {
    for (const GateMetric& m : gate_metrics()) {
        EXPECT_EQ(find_gate_metric(m.name), &m) << m.name;
        EXPECT_TRUE(m.of_implementation || m.of_kernel || m.of_library_call || m.of_copy) << m.name;
        EXPECT_FALSE(m.title.empty());
    }
    EXPECT_EQ(find_gate_metric("registerz"), nullptr);
    EXPECT_TRUE(find_gate_metric("dram_bytes")) << "what the analysis derives is gated too";
    EXPECT_FALSE(find_gate_metric("kernel_time")) << "a serialised run's time is one number";
}

}  // namespace
}  // namespace attnscope::gate
