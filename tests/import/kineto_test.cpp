// PyTorch profiler traces, each peculiarity by hand; right values are what was written into the trace.
#include <gtest/gtest.h>

#include "attnscope/import.h"
#include "trace.h"

namespace attnscope::test {
namespace {

const Process& only(const attnscope::Run& run) {
    EXPECT_EQ(run.processes.size(), 1U);
    return run.processes.at(0);
}

TEST(Kineto, KernelsHaveGeometryResourcesAndTimes) {
    const attnscope::Run run = import_bytes(trace({flash_kernel(5)}));
    EXPECT_EQ(run.ground, Ground::imported);
    const Process& p = only(run);
    ASSERT_EQ(p.launches.size(), 1U);
    const Launch& l = p.launches[0];
    EXPECT_EQ(p.names.at(l.name), "pytorch_flash::flash_fwd_kernel");
    EXPECT_EQ(l.correlation, 5U);
    EXPECT_EQ(l.device, 0);
    EXPECT_EQ(l.stream, 7U);
    EXPECT_EQ(l.grid, (Dim3{8, 8, 16}));
    EXPECT_EQ(l.block, (Dim3{128, 1, 1}));
    EXPECT_EQ(l.registers, 168U);
    EXPECT_EQ(l.shared, 81920U) << "static and dynamic are not told apart";
    EXPECT_FALSE(l.static_shared || l.dynamic_shared);
    EXPECT_EQ(l.start_ns, 100500U);
    EXPECT_EQ(l.end_ns, 110750U);
    EXPECT_EQ(l.reported_occupancy, 0.0) << "kept as what the trace says, nowhere else";
    EXPECT_FALSE(diagnostic(run, "import-cpu-only"));
}

TEST(Kineto, TimesKeepTheirNanoseconds) {
    // 16 digits before the point: a double would be off by 128 ns. displayTimeUnit changes nothing.
    const attnscope::Run run =
        import_bytes(trace({flash_kernel(1, "1751410836123456.789"), flash_kernel(2, "17.5e1")}, h100(),
                           ", \"displayTimeUnit\": \"ns\""));
    const Process& p = only(run);
    EXPECT_EQ(p.launches[0].start_ns, 1751410836123456789U);
    EXPECT_EQ(p.launches[0].end_ns, 1751410836123456789U + 10250U);
    EXPECT_EQ(p.launches[1].start_ns, 175000U);
}

TEST(Kineto, TimesThatStartAtZeroOrBeforeAreMovedTogether) {
    const attnscope::Run run = import_bytes(trace({flash_kernel(1, "-2"), flash_kernel(2, "3")}));
    const Process& p = only(run);
    EXPECT_EQ(p.launches[0].start_ns, 1U) << "0 is \"not collected\" in a run";
    EXPECT_EQ(*p.launches[1].start_ns - *p.launches[0].start_ns, 5000U);
}

TEST(Kineto, TracesOf2021) {
    const std::string device =
        R"({"id": 0, "name": "Tesla V100-DGXS-32GB", "major": 7, "minor": 0, "maxThreadsPerBlock": 1024,
"maxThreadsPerMultiProcessor": 2048, "regsPerBlock": 65536, "regsPerMultiprocessor": 65536, "warpSize": 32,
"sharedMemPerMultiprocessor": 98304, "multiProcessorCount": 80, "sharedMemPerBlockOptin": 98304})";
    std::string text = trace(
        {event("Kernel", "gemm", "1623142623531625", "2",
               R"("device": 0, "stream": 7, "correlation": 3, "external id": 31, "registers per thread": 72,
"shared memory": 13824, "grid": [1, 2, 1], "block": [128, 1, 1], "theoretical occupancy %": 31)",
               "\"stream 7\""),
         event("Memcpy", "Memcpy HtoD (Pageable -> Device)", "1623142623531000", "1",
               R"("device": 0, "context": 1, "stream": 7, "correlation": 2, "bytes": 640)", "\"stream 7\""),
         event("Memset", "Memset (Device)", "1623142623532000", "0",
               R"("device": 0, "stream": 7, "correlation": 4, "bytes": 128)", "\"stream 7\"")},
        device);
    text.replace(text.find("deviceProperties"), 16, "computeProperties");
    const attnscope::Run run = import_bytes(text);
    const Process& p = only(run);
    ASSERT_EQ(p.launches.size(), 3U);
    EXPECT_EQ(p.launches[0].kind, LaunchKind::memcpy);
    EXPECT_EQ(p.copy_kinds.at(p.launches[0].copy_kind), "HtoD");
    EXPECT_EQ(p.launches[0].bytes, 640U);
    EXPECT_EQ(p.launches[1].reported_occupancy, 31.0);
    EXPECT_EQ(p.launches[2].kind, LaunchKind::memset);
    EXPECT_EQ(p.launches[2].start_ns, p.launches[2].end_ns) << "a duration of 0 is one";
    ASSERT_EQ(p.devices.size(), 1U);
    EXPECT_EQ(p.devices[0].major, 7U);
    EXPECT_EQ(p.devices[0].minor, 0U);
    EXPECT_EQ(p.devices[0].sm_count, 80U);
    EXPECT_EQ(p.devices[0].max_threads_per_sm, 2048U);
    EXPECT_EQ(p.devices[0].max_ctas_per_sm, 32U) << "of compute capability 7.0, from the GPU table";
    EXPECT_TRUE(diagnostic(run, "import-device-completed"));
}

TEST(Kineto, NumbersMayBeStringsAndBoundsAreKept) {
    const attnscope::Run run = import_bytes(
        trace({event("kernel", "k", "\"10\"", "\"2.5\"",
                     R"("device": "0", "stream": 7, "correlation": "9", "registers per thread": 0,
"shared memory": 99999999999999, "grid": [0, 1, 1], "block": [128, 1])")}));
    const Launch& l = only(run).launches.at(0);
    EXPECT_EQ(l.correlation, 9U);
    EXPECT_EQ(l.start_ns, 10000U);
    EXPECT_EQ(l.end_ns, 12500U);
    EXPECT_FALSE(l.registers) << "no kernel has 0 registers";
    EXPECT_FALSE(l.shared) << "no GPU has that much";
    EXPECT_FALSE(l.has_grid) << "a grid of 0 does not run";
    EXPECT_FALSE(l.has_block) << "two of three sizes";
}

TEST(Kineto, LaunchesNameTheirOperationsRangesAndInputs) {
    const attnscope::Run run = import_bytes(trace({
        event("user_annotation", "step", "0", "1000", "", "1", "9"),
        event(
            "cpu_op", "aten::scaled_dot_product_attention", "10", "100",
            R"("External id": 1, "Input Dims": [[8, 16, 1024, 64], [], []], "Input type": ["c10::BFloat16", "Scalar", ""],
"Input Strides": [[1048576, 65536, 64, 1], [], []], "Concrete Inputs": ["", "0.125", ""])",
            "1", "9"),
        event("cpu_op", "aten::_flash_attention_forward", "20", "50", R"("External id": 2)", "1", "9"),
        event("cuda_runtime", "cudaLaunchKernel", "30", "5", R"("External id": 2, "correlation": 77)", "1",
              "9"),
        event("cpu_op", "MmBackward0", "200", "50", R"("External id": 3)", "1", "9"),
        event("cuda_runtime", "cudaLaunchKernel", "210", "5", R"("correlation": 78)", "1", "9"),
        flash_kernel(77, "500", R"(, "External id": 2)"),
        flash_kernel(78, "600"),
        flash_kernel(79, "700"),
    }));
    const Process& p = only(run);
    ASSERT_EQ(p.launches.size(), 3U);
    const Operation& inner = p.operations.at(p.launches[0].operation);
    EXPECT_EQ(inner.name, "aten::_flash_attention_forward");
    const Operation& outer = p.operations.at(inner.parent);
    EXPECT_EQ(outer.name, "aten::scaled_dot_product_attention");
    EXPECT_EQ(outer.inputs,
              (std::vector<std::string>{"bf16[8,16,1024,64] strides (1048576,65536,64,1)", "0.125", "none"}));
    EXPECT_EQ(p.ranges.at(p.launches[0].range).name, "step");
    const Operation& backward = p.operations.at(p.launches[1].operation);
    EXPECT_EQ(backward.name, "MmBackward0") << "by time, where the kernel has no External id";
    EXPECT_TRUE(backward.backward);
    EXPECT_LT(p.launches[0].operation_call, p.launches[1].operation_call);
    EXPECT_EQ(p.launches[2].operation, kNone) << "nothing says what launched it";
    EXPECT_EQ(p.launches[2].range, kNone);
}

TEST(Kineto, AnExternalIdThatIsNotAroundTheCallIsNoOperation) {
    // Old traces write the correlation there, which can be some other operation's number.
    const attnscope::Run run = import_bytes(trace({
        event("cpu_op", "aten::far_away", "900", "10", R"("External id": 14)", "1", "9"),
        event("cpu_op", "aten::add", "10", "100", R"("External id": 2)", "1", "9"),
        event("cuda_runtime", "cudaLaunchKernel", "30", "5", R"("correlation": 14)", "1", "9"),
        flash_kernel(14, "500", R"(, "External id": 14)"),
    }));
    const Process& p = only(run);
    EXPECT_EQ(p.operations.at(p.launches.at(0).operation).name, "aten::add");
}

TEST(Kineto, AGraphsKernelsShareTheirCorrelation) {
    std::vector<std::string> events;
    for (int i = 0; i < 20; ++i) events.push_back(flash_kernel(7, std::to_string(1000 - i)));
    const attnscope::Run run = import_bytes(trace(events));
    const Process& p = only(run);
    ASSERT_EQ(p.launches.size(), 20U);
    for (size_t i = 1; i < 20; ++i) EXPECT_LT(p.launches[i - 1].start_ns, p.launches[i].start_ns);
}

TEST(Kineto, AmdTracesHaveNoResourcesAndNoOccupancy) {
    const attnscope::Run run = import_bytes(trace(
        {event("kernel", "triton_red_fused_0", "5", "7",
               R"("device": 2, "stream": 0, "correlation": 6, "kind": "Dispatch Kernel")"),
         event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "9", "1",
               R"("device": 2, "stream": 0, "correlation": 7, "kind": "DtoD", "bytes": 1)")},
        R"({"id": 2, "name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 0, "warpSize": 64,
"maxThreadsPerMultiprocessor": 2048, "numSms": 304})"));
    const Process& p = only(run);
    EXPECT_FALSE(p.launches[0].registers || p.launches[0].shared || p.launches[0].has_grid);
    EXPECT_EQ(p.copy_kinds.at(p.launches[1].copy_kind), "DtoD");
    ASSERT_EQ(p.devices.size(), 1U);
    EXPECT_FALSE(p.devices[0].max_ctas_per_sm) << "AMD's 9.0 is not NVIDIA's 9.0: nothing of Hopper's";
    EXPECT_FALSE(diagnostic(run, "import-device-completed"));
}

TEST(Kineto, ADeviceThatIsNotListed) {
    std::string kernel = flash_kernel(1);
    kernel.replace(kernel.find("\"device\": 0"), 11, "\"device\": 9");
    const attnscope::Run run = import_bytes(trace({kernel}));
    const Process& p = only(run);
    EXPECT_EQ(p.launches.at(0).device, 9);
    EXPECT_EQ(p.device(9), nullptr) << "never guessed";
    EXPECT_EQ(p.devices.at(0).name, "NVIDIA H100 80GB HBM3");
    ASSERT_TRUE(diagnostic(run, "import-device-not-listed"));
    EXPECT_EQ(diagnostic(run, "import-device-not-listed")->count, 1U);
}

TEST(Kineto, OnlyDevicesThatWereUsedAndRanksAndVersions) {
    std::string second = h100();
    second.replace(second.find("\"id\": 0"), 7, "\"id\": 1");
    const attnscope::Run run =
        import_bytes(trace({flash_kernel(1)}, h100() + "," + second,
                           R"(, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
"cuda_driver_version": 12090, "cuda_runtime_version": 12040)"));
    const Process& p = only(run);
    EXPECT_EQ(p.devices.size(), 1U);
    EXPECT_EQ(p.rank, 3U);
    EXPECT_EQ(p.cuda_driver, 12090U);
    EXPECT_EQ(p.cuda_runtime, 12040U);
}

TEST(Kineto, CountersOfCuptisRangeProfiler) {
    const attnscope::Run run = import_bytes(trace({event(
        "cuda_profiler_range", "gemm_kernel", "5", "900000",
        R"("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum": 4866048, "dram__bytes_read.sum": 12.5)")}));
    const Process& p = only(run);
    EXPECT_TRUE(p.launches.empty());
    ASSERT_EQ(p.ranges.size(), 1U);
    const CounterSet& values = p.counters.at(p.ranges[0].counters);
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(p.metrics.at(values[0].metric), "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum");
    EXPECT_EQ(values[0].value, 4866048.0);
    EXPECT_EQ(values[1].value, 12.5);
    EXPECT_EQ(p.ranges[0].start_ns, p.ranges[0].end_ns) << "its duration means nothing";
    EXPECT_TRUE(diagnostic(run, "import-counted-ranges"));
}

TEST(Kineto, TracesWithoutKernelsSayWhy) {
    const attnscope::Run cpu =
        import_bytes(trace({event("cpu_op", "aten::add", "1", "2", "", "1", "9")}, ""));
    ASSERT_TRUE(diagnostic(cpu, "import-cpu-only"));
    EXPECT_NE(diagnostic(cpu, "import-cpu-only")->message.find("CPU-only trace: no GPU kernel was recorded"),
              std::string::npos);
    const attnscope::Run lost = import_bytes(
        trace({event("cuda_runtime", "cudaLaunchKernel", "1", "2", R"("correlation": 5)", "1", "9")}));
    ASSERT_TRUE(diagnostic(lost, "import-device-side-lost"));
    EXPECT_NE(diagnostic(lost, "import-device-side-lost")
                  ->message.find("1 launches but no kernels: CUPTI lost the device side"),
              std::string::npos);
}

TEST(Kineto, EventsAloneAreChromesOtherForm) {
    const attnscope::Run run = import_bytes("[" + flash_kernel(1) + ",\n" + flash_kernel(2) + "]");
    EXPECT_EQ(only(run).launches.size(), 2U);
}

}  // namespace
}  // namespace attnscope::test
