// The whole chain on the virtual GPU: unmodified LibTorch, stand-ins, collector, reader, analysis.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

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

double number(const Value& value) {
    return value ? *value.number : -1;
}

// Source of the counts: Hugging Face, "Profiling in PyTorch (part 3): attention", a real A100-SXM4-80GB
// (facts/attention.md, section 4): 6, 5, 20, 1, 1, 1; the first holds a copy of the score matrix,
// 8*16*1024*1024*2 bytes.
TEST(Attention, CountsOfTheBlogsShapeOnA100) {
    const AttentionRun run = attention("virtual:A100-SXM4-80GB", kBlogShape);
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    const std::map<std::string, double> launches = {{"naive", 6},      {"naive_inplace", 5},
                                                    {"sdpa_math", 20}, {"sdpa_efficient", 1},
                                                    {"sdpa_flash", 1}, {"sdpa_cudnn", 1}};
    for (const auto& [name, count] : launches)
        EXPECT_EQ(number(implementation(run, name).launches), count) << name;
    const Implementation& naive = implementation(run, "naive");
    EXPECT_EQ(number(naive.copies), 1);
    EXPECT_EQ(number(naive.device_copy_bytes), 268435456);
    EXPECT_EQ(number(naive.library_calls), 2);
    EXPECT_EQ(number(implementation(run, "naive_inplace").copies), 0);
    EXPECT_EQ(number(implementation(run, "sdpa_cudnn").library_calls), 1);
    EXPECT_EQ(number(implementation(run, "sdpa_cudnn").kernels), 0);
    EXPECT_EQ(run.analysis.choice.chosen, "flash");
}

// Source: facts/attention.md 1.1: on sm_90 the order of LibTorch 2.11 with cuDNN 9.19 is cuDNN first.
TEST(Attention, UnforcedChoiceOnH100IsCudnn) {
    const AttentionRun run = attention("virtual:H100-SXM5", {"--only", "sdpa_auto"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    EXPECT_EQ(run.analysis.choice.chosen, "cudnn");
    const std::vector<std::string> order = {"cudnn", "flash", "efficient", "math", "overrideable"};
    EXPECT_EQ(run.analysis.choice.order, order);
    EXPECT_EQ(number(implementation(run, "sdpa_auto").library_calls), 1);
}

struct Tile {
    const char* device;
    int head_dim;
    const char* traits;  ///< in the mangled name: head dim, block M, block N, warps
    uint32_t threads, shared, registers_at_most;
    double occupancy;
};

// Sources: facts/attention.md 1.6 (tiles, registers, occupancy); the wheel's cubins.
TEST(Attention, FlashTilesAndOccupancy) {
    const Tile tiles[] = {
        {"A100", 64, "ILi64ELi128ELi128ELi4E", 128, 49152, 255, 12.5},
        {"A100", 128, "ILi128ELi128ELi64ELi4E", 128, 65536, 255, 12.5},
        {"A100", 256, "ILi256ELi128ELi64ELi8E", 256, 131072, 255, 12.5},
        {"H100-SXM5", 64, "ILi64ELi128ELi128ELi4E", 128, 49152, 255, 12.5},
        {"H100-SXM5", 128, "ILi128ELi128ELi64ELi4E", 128, 65536, 255, 12.5},
        {"H100-SXM5", 256, "ILi256ELi64ELi64ELi4E", 128, 98304, 255, 12.5},
        {"RTX-4090", 64, "ILi64ELi128ELi128ELi4E", 128, 49152, 255, 100.0 / 6},
        {"RTX-4090", 256, "ILi256ELi64ELi64ELi4E", 128, 98304, 255, 100.0 / 12},
    };
    for (const Tile& tile : tiles) {
        SCOPED_TRACE(std::string(tile.device) + " head_dim " + std::to_string(tile.head_dim));
        const AttentionRun run =
            attention(std::string("virtual:") + tile.device,
                      {"--only", "sdpa_flash", "--head-dim", std::to_string(tile.head_dim), "--batch", "2"});
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
        const auto kernels = kernels_of(run.run, "sdpa_flash");
        ASSERT_EQ(kernels.size(), 1U);
        EXPECT_NE(kernels[0].name.find("flash_fwd_kernel"), std::string::npos) << kernels[0].name;
        EXPECT_NE(kernels[0].name.find(tile.traits), std::string::npos) << kernels[0].name;
        EXPECT_EQ(kernels[0].launch.block[0], tile.threads);
        EXPECT_EQ(kernels[0].launch.static_shared.value_or(0) + kernels[0].launch.dynamic_shared.value_or(0),
                  tile.shared);
        EXPECT_LE(kernels[0].launch.registers.value_or(9999), tile.registers_at_most);
        const Step* lowest = implementation(run, "sdpa_flash").lowest_occupancy();
        ASSERT_NE(lowest, nullptr);
        EXPECT_NEAR(number(lowest->occupancy), tile.occupancy, 0.01);
    }
}

// Source: facts/attention.md 1.6: 128 registers x 128 threads, 18,944 bytes -> 4 CTAs, 25% on A100 and H100.
TEST(Attention, EfficientHasTwiceTheOccupancyOfFlash) {
    for (const char* device : {"A100", "H100-SXM5"}) {
        const AttentionRun run = attention(std::string("virtual:") + device, {"--only", "sdpa_efficient"});
        ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
        const auto kernels = kernels_of(run.run, "sdpa_efficient");
        ASSERT_EQ(kernels.size(), 1U);
        EXPECT_NE(kernels[0].name.find("fmha_cutlassF_bf16_aligned_64x64_rf_sm80"), std::string::npos);
        EXPECT_NEAR(number(implementation(run, "sdpa_efficient").lowest_occupancy()->occupancy), 25, 0.01);
    }
}

// Source: a public PyTorch trace of a real H100, shared/samples/kineto/h100-bert-small.json.gz (kernels of
// q,k,v (1,141,8,64)).
TEST(Attention, EqualsTheRealH100TraceOfBertSmall) {
    const AttentionRun run =
        attention("virtual:H100-SXM5", {"--only", "sdpa_flash", "--batch", "1", "--heads", "8", "--seq",
                                        "141", "--head-dim", "64", "--no-causal", "--transposed"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    const auto kernels = kernels_of(run.run, "sdpa_flash");
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_NE(kernels[0].name.find("flash_fwd_kernel"), std::string::npos);
    const Launch& launch = kernels[0].launch;
    EXPECT_EQ(launch.grid, (Dim3{2, 1, 8}));
    EXPECT_EQ(launch.block, (Dim3{128, 1, 1}));
    EXPECT_EQ(launch.registers, 255U);
    EXPECT_EQ(launch.static_shared.value_or(0) + launch.dynamic_shared.value_or(0), 49152U);
}

// Source: pytorch #146704 and facts/attention.md row 12: grid.y is limited to 65,535, the launch fails,
// nothing crashes.
TEST(Attention, Batch65536ThroughFlashFailsAsOnARealDevice) {
    const std::vector<std::string> shape = {"--only", "sdpa_flash", "--heads", "1",        "--seq",
                                            "16",     "--head-dim", "8",       "--warmup", "0"};
    auto with_batch = [&](const char* batch) {
        std::vector<std::string> arguments = shape;
        arguments.insert(arguments.end(), {"--batch", batch});
        return attention("virtual:H100-SXM5", arguments);
    };
    const AttentionRun fits = with_batch("65535");
    EXPECT_EQ(implementation(fits, "sdpa_flash").status, ImplementationStatus::ran) << fits.outcome.err;
    const AttentionRun fails = with_batch("65536");
    EXPECT_EQ(implementation(fails, "sdpa_flash").status, ImplementationStatus::failed);
    EXPECT_NE(implementation(fails, "sdpa_flash").reason.find("invalid configuration argument"),
              std::string::npos)
        << implementation(fails, "sdpa_flash").reason;
    EXPECT_NE(fails.outcome.exit_code, 0);
}

// LibTorch's own sentences (facts/cupti-without-a-gpu.md): a mask refuses flash, GQA refuses efficient, fp32
// refuses flash and cuDNN.
TEST(Attention, RefusalsAreInLibTorchsWords) {
    const AttentionRun masked =
        attention("virtual:H100-SXM5", {"--no-causal", "--mask", "bool", "--batch", "1"});
    ASSERT_EQ(masked.outcome.exit_code, 0) << masked.outcome.err;
    EXPECT_EQ(implementation(masked, "sdpa_flash").status, ImplementationStatus::refused);
    EXPECT_NE(implementation(masked, "sdpa_flash")
                  .reason.find("Flash Attention does not support non-null attn_mask"),
              std::string::npos);
    EXPECT_EQ(implementation(masked, "sdpa_math").status, ImplementationStatus::ran);

    const AttentionRun grouped = attention("virtual:H100-SXM5", {"--kv-heads", "4", "--batch", "1"});
    EXPECT_EQ(implementation(grouped, "sdpa_efficient").status, ImplementationStatus::refused);
    EXPECT_EQ(implementation(grouped, "sdpa_flash").status, ImplementationStatus::ran);

    const AttentionRun single = attention("virtual:A100", {"--dtype", "fp32", "--batch", "1"});
    EXPECT_EQ(implementation(single, "sdpa_flash").status, ImplementationStatus::refused);
    EXPECT_EQ(implementation(single, "sdpa_cudnn").status, ImplementationStatus::refused);
    EXPECT_EQ(implementation(single, "sdpa_efficient").status, ImplementationStatus::ran);
}

TEST(Attention, BackwardRunsInEveryBackend) {
    const AttentionRun run = attention("virtual:A100", {"--backward", "--batch", "2"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    bool flash_backward = false;
    for (const KernelLaunch& kernel : kernels_of(run.run, "sdpa_flash"))
        flash_backward |=
            kernel.name.find("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel") != std::string::npos;
    EXPECT_TRUE(flash_backward) << "autograd launches on its own thread: the process range must cover it";
    bool efficient_backward = false;
    for (const KernelLaunch& kernel : kernels_of(run.run, "sdpa_efficient"))
        efficient_backward |= kernel.name.find("fmha_cutlassB_bf16") != std::string::npos;
    EXPECT_TRUE(efficient_backward);
    EXPECT_EQ(number(implementation(run, "sdpa_cudnn").library_calls), 2);
}

// On a virtual GPU nothing is timed: no time anywhere, in the run or in the analysis.
TEST(Attention, AVirtualGpuHasNoTimes) {
    const AttentionRun run = attention("virtual:H100-SXM5", {"--only", "sdpa_flash,sdpa_math"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    EXPECT_FALSE(run.analysis.timed());
    for (const Process& process : run.run.processes)
        for (const Launch& launch : process.launches) EXPECT_FALSE(launch.start_ns.has_value());
}

// The torch wheel holds no cubin below sm_75: a V100 has nothing to run.
TEST(Attention, V100HasNoKernelImage) {
    const AttentionRun run = attention("virtual:V100", {"--only", "sdpa_math", "--dtype", "fp16"});
    EXPECT_NE(run.outcome.exit_code, 0);
    bool said = false;
    for (const Process& process : run.run.processes)
        for (const Diagnostic& diagnostic : process.diagnostics) said |= diagnostic.code == "no-kernel-image";
    EXPECT_TRUE(said) << "the run itself says what the wheel holds and what it would need";
    EXPECT_NE((run.outcome.err + run.outcome.out).find("no kernel image is available"), std::string::npos)
        << run.outcome.err << run.outcome.out;
}

// Peak memory is the allocator's: the out-of-place mask needs one more score matrix at its peak than the one
// in place.
TEST(Attention, PeakMemoryIsReported) {
    const AttentionRun run = attention("virtual:A100", {"--only", "naive,naive_inplace,sdpa_flash"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    EXPECT_GT(number(implementation(run, "naive").peak_memory), 0);
    EXPECT_GE(number(implementation(run, "naive").peak_memory),
              number(implementation(run, "naive_inplace").peak_memory));
    EXPECT_GT(number(implementation(run, "naive_inplace").peak_memory),
              number(implementation(run, "sdpa_flash").peak_memory));
}

// A thread range that was open before (a framework's, a profiler's) does not hide the implementations'
// process ranges; and the Python workload with an unmodified torch records what the C++ one does.
TEST(Attention, PythonWorkloadInsideAThreadRange) {
    if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
    Scratch scratch;
    const std::string script = binary("../share/attnscope/attention.py");
    const std::string program =
        "import runpy, sys, torch; torch.cuda.nvtx.range_push('outer'); sys.argv = ['" + script +
        "', '--batch', '2', '--only', 'naive,sdpa_math,sdpa_flash']; runpy.run_path('" + script +
        "', run_name='__main__')";
    const Outcome outcome = attnscope(
        {"collect", "--device", "virtual:A100", "-o", scratch.path("run"), "--", python(), "-c", program});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    AttentionRun run;
    run.analysis = analyze(read_run(scratch.path("run")));
    EXPECT_EQ(number(implementation(run, "naive").launches), 6);
    EXPECT_EQ(number(implementation(run, "sdpa_math").launches), 20);
    EXPECT_EQ(number(implementation(run, "sdpa_flash").launches), 1);
}

TEST(Attention, PythonWorkloadGivesLibTorchsWords) {
    if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
    const AttentionRun run =
        attention("virtual:A100", {"--python", python(), "--no-causal", "--mask", "bool", "--batch", "1"});
    ASSERT_EQ(run.outcome.exit_code, 0) << run.outcome.err;
    EXPECT_EQ(implementation(run, "sdpa_flash").status, ImplementationStatus::refused);
    EXPECT_EQ(implementation(run, "sdpa_flash").reason,
              "Flash Attention does not support non-null attn_mask.");
}

// Several virtual devices at once; the program's exit code comes back; what it reads of results is reported
// with its line.
TEST(Attention, UncomputedReadsAreReportedWithTheProgramsLine) {
    if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
    Scratch scratch;
    const std::string program = scratch.path("decides.py");
    std::ofstream(program) << "import sys, torch\n"
                              "a = torch.randn(64, 64, device='cuda:1')\n"
                              "value = (a @ a).sum().item()\n"
                              "sys.exit(3 if value == 1.0 else 4)\n";
    const Outcome zeros = attnscope(
        {"collect", "--device", "virtual:H100x2", "-o", scratch.path("zeros"), "--", python(), program});
    EXPECT_EQ(zeros.exit_code, 4) << zeros.err;
    const Outcome ones = attnscope({"collect", "--device", "virtual:H100x2", "--uncomputed", "float:1", "-o",
                                    scratch.path("ones"), "--", python(), program});
    EXPECT_EQ(ones.exit_code, 3) << ones.err;
    const attnscope::Run run = read_run(scratch.path("zeros"));
    ASSERT_EQ(run.processes.size(), 1U);
    EXPECT_EQ(run.processes[0].devices.size(), 2U);
    ASSERT_EQ(run.processes[0].uncomputed_reads.size(), 1U);
    EXPECT_NE(run.processes[0].uncomputed_reads[0].location.find("decides.py:3"), std::string::npos)
        << run.processes[0].uncomputed_reads[0].location;
}

}  // namespace
}  // namespace attnscope::test
