// Nsight Compute's CSV: both pages, both generations of headers, units, ragged rows and output in between.
#include <gtest/gtest.h>

#include <set>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "samples.h"
#include "trace.h"

namespace attnscope::test {
namespace {

constexpr const char* kNew =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description")"
    "\n";
constexpr const char* kOld =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description")"
    "\n";

std::string row(const std::string& section, const std::string& metric, const std::string& unit,
                const std::string& value, const std::string& id = "0") {
    return "\"" + id +
           "\",\"42\",\"python\",\"127.0.0.1\",\"void flash_fwd<128, 64>(Params)\",\"1\",\"7\",\"(32, 4, "
           "1)\","
           "\"(4, 12, 54)\",\"0\",\"9.0\",\"" +
           section + "\",\"" + metric + "\",\"" + unit + "\",\"" + value + "\",\n";
}

/// The value of a metric of the first launch.
std::optional<double> value(const attnscope::Run& run, const std::string& metric, size_t launch = 0) {
    const Process& p = run.processes.at(0);
    for (const CounterValue& v : p.counters.at(p.launches.at(launch).counters))
        if (p.metrics.at(v.metric) == metric) return v.value;
    ADD_FAILURE() << metric << " is not there";
    return std::nullopt;
}

TEST(NsightCompute, DetailsOfTheNewerHeader) {
    const attnscope::Run run = import_bytes(
        std::string("==PROF== Connected to process 42\nthe program says \"hello\n") + kNew +
        row("Command line profiler metrics", "dram__bytes_read.sum", "Mbyte", "17.50") +
        "==PROF== Profiling \"flash\" - 1: 0%....100% - 3 passes\n" +
        row("Command line profiler metrics", "flop_count_hp.sum", "", "n/a") +
        row("GPU Speed Of Light Throughput", "Memory Throughput", "%", "27.74") +
        row("GPU Speed Of Light Throughput", "Duration", "us", "111.81") +
        row("Memory Workload Analysis", "Memory Throughput", "Gbyte/s", "156.55") +
        row("Occupancy", "Achieved Occupancy", "%", "16.73") +
        row("Launch Statistics", "Registers Per Thread", "register/thread", "168") +
        row("Launch Statistics", "Static Shared Memory Per Block", "byte/block", "1,024") +
        row("Launch Statistics", "Dynamic Shared Memory Per Block", "Kbyte/block", "81.92") +
        row("Some New Section", "Some Title", "", "1") +
        "\"0\",\"42\",\"python\",\"127.0.0.1\",\"void flash_fwd<128, 64>(Params)\",\"1\",\"7\",\"(32, 4, "
        "1)\","
        "\"(4, 12, 54)\",\"0\",\"9.0\",\"Occupancy\",\"\",\"\",\"\",\"Rule\",\"OPT\",\"It \"\"says\"\" "
        "so,\nover two lines\"\n" +
        row("Command line profiler metrics", "dram__bytes_read.sum", "byte", "10,192,158,720", "1"));
    ASSERT_EQ(run.processes.size(), 1U);
    const Process& p = run.processes[0];
    ASSERT_EQ(p.launches.size(), 2U);
    EXPECT_EQ(p.collection, Collection::counters);
    EXPECT_EQ(p.counter_ground, Ground::imported);
    EXPECT_EQ(p.pid, 42U);
    const Launch& l = p.launches[0];
    EXPECT_EQ(p.names.at(l.name), "void flash_fwd<128, 64>(Params)");
    EXPECT_EQ(l.block, (Dim3{32, 4, 1}));
    EXPECT_EQ(l.grid, (Dim3{4, 12, 54}));
    EXPECT_EQ(l.registers, 168U);
    EXPECT_EQ(l.static_shared, 1024U);
    EXPECT_EQ(l.dynamic_shared, 81920U);
    EXPECT_FALSE(l.start_ns) << "under Nsight Compute a kernel's time is not the program's";
    EXPECT_EQ(p.devices.at(0).max_ctas_per_sm, 32U) << "compute capability 9.0";
    EXPECT_EQ(value(run, "dram__bytes_read.sum"), 17.5e6);
    EXPECT_EQ(value(run, "flop_count_hp.sum"), std::nullopt) << "n/a is not 0";
    EXPECT_EQ(value(run, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"), 27.74);
    EXPECT_EQ(value(run, "dram__bytes.sum.per_second"), 156.55e9) << "the same title in another section";
    EXPECT_EQ(value(run, "gpu__time_duration.sum"), 111810.0) << "nanoseconds";
    EXPECT_EQ(value(run, "sm__warps_active.avg.pct_of_peak_sustained_active"), 16.73);
    EXPECT_EQ(value(run, "dram__bytes_read.sum", 1), 10192158720.0);
    EXPECT_EQ(diagnostic(run, "import-unnamed-metrics")->count, 1U);
}

TEST(NsightCompute, DetailsOfTheOlderHeader) {
    const std::string kernel =
        R"("3","7","python3.10","127.0.0.1","softmax","2023-May-09 15:22:35","1","7",)";
    const attnscope::Run run =
        import_bytes(std::string(kOld) + kernel +
                     R"("Launch Statistics","Block Size","","256",)"
                     "\n" +
                     kernel +
                     R"("Launch Statistics","Grid Size","","768",)"
                     "\n" +
                     kernel +
                     R"("Launch Statistics","Function Cache Configuration","","cudaFuncCachePreferNone",)"
                     "\n");
    const Launch& l = run.processes.at(0).launches.at(0);
    EXPECT_EQ(l.block, (Dim3{256, 1, 1}));
    EXPECT_EQ(l.grid, (Dim3{768, 1, 1}));
    EXPECT_TRUE(diagnostic(run, "import-total-geometry")) << "the shape is not known, and that is told";
}

TEST(NsightCompute, RawPageWithUnits) {
    const attnscope::Run run = import_bytes(
        "grid: (1,1,1)\n"
        R"("ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","device__attribute_display_name","device__attribute_multiprocessor_count","dram__bytes_read.sum","gpu__time_duration.sum","launch__registers_per_thread","sm__inst_executed.sum")"
        "\n"
        R"("","","","","","","","","","","Kbyte","nsecond","register/thread","inst")"
        "\n"
        R"("0","42","vectoradd","127.0.0.1","vecAdd","2023-Oct-01","1","7","NVIDIA H100 80GB HBM3","132.00","1.50","2,720.00","10.00","1,024.00; 1,024.00; 100.00")"
        "\n");
    EXPECT_EQ(value(run, "dram__bytes_read.sum"), 1500.0);
    EXPECT_EQ(value(run, "gpu__time_duration.sum"), 2720.0);
    EXPECT_EQ(value(run, "sm__inst_executed.sum"), std::nullopt) << "instances are not their total";
    const Process& p = run.processes.at(0);
    EXPECT_EQ(p.launches.at(0).registers, 10U);
    EXPECT_EQ(p.devices.at(0).name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(p.devices.at(0).sm_count, 132U);
}

TEST(NsightCompute, CutAnywhereItLoadsOrIsRefused) {
    const std::string whole = std::string(kNew) + row("Occupancy", "Achieved Occupancy", "%", "16.73") +
                              row("Occupancy", "Achieved Occupancy", "%", "20", "1");
    for (size_t length = 0; length < whole.size(); ++length) {
        try {
            const attnscope::Run run = import_bytes(whole.substr(0, length), "ncu.csv");
            EXPECT_LE(run.processes.at(0).launches.size(), 2U);
        } catch (const Error& e) {
            EXPECT_EQ(e.exit(), Exit::bad_input);
        }
    }
}

TEST(NsightCompute, ManyColumnsAndProcessesTakeNoLongerThanTheyAreLong) {
    std::string header = "\"ID\",\"Process ID\",\"Kernel Name\"", row;
    for (int i = 0; i < 20000; ++i) {
        header += ",m__" + std::to_string(i);
        row += ",1";
    }
    std::string text = header + "\n";
    for (int i = 0; i < 20; ++i) text += "\"" + std::to_string(i) + "\",\"7\",\"k\"" + row + "\n";
    for (int i = 0; i < 20000; ++i)
        text += "\"0\",\"" + std::string(i % 2 ? "?" : "!") + std::to_string(i) + "\",\"k\"\n";
    const attnscope::Run run = import_bytes(text, std::string(150, 'n') + ".csv");
    ASSERT_EQ(run.processes.size(), 20001U);
    std::set<std::string> files;
    size_t values = 0;
    for (const Process& p : run.processes) {
        files.insert(p.file);
        for (const CounterSet& set : p.counters) values += set.size();
    }
    EXPECT_EQ(files.size(), run.processes.size());
    EXPECT_EQ(values, 20U * 20000U);
}

TEST(NsightCompute, ErrorsBetweenRowsAreDataLoss) {
    const attnscope::Run run =
        import_bytes(std::string(kNew) + row("Occupancy", "Achieved Occupancy", "%", "16.73") +
                     "==ERROR== Failed to profile kernel \"x\" in process 42\n");
    ASSERT_TRUE(diagnostic(run, "import-profiler-error"));
    EXPECT_EQ(diagnostic(run, "import-profiler-error")->level, DiagnosticLevel::data_loss);
}

TEST(NsightCompute, RealFiles) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    const auto open = [&](const char* name) { return import_files({*folder / "ncu" / name}); };
    EXPECT_EQ(open("flash1-bert-kernel-time.csv").processes.at(0).launches.size(), 10U);
    EXPECT_EQ(open("naive-bert-prof-lines.csv").processes.at(0).launches.size(), 26U);
    EXPECT_EQ(open("wide-raw-page.csv").processes.at(0).launches.size(), 3U);
    const attnscope::Run mixed = open("wide-raw-page-with-stdout.txt");
    EXPECT_EQ(mixed.processes.at(0).launches.size(), 3U);
    EXPECT_EQ(mixed.processes.at(0).devices.at(0).name, "NVIDIA GeForce GTX 1080");
    const attnscope::Run gemm = open("gemm-metrics.csv");
    EXPECT_EQ(gemm.processes.at(0).launches.size(), 9U);
    EXPECT_EQ(value(gemm, "dram__bytes.sum"), 32746880.0);
    EXPECT_EQ(value(gemm, "gpu__time_duration.sum"), 10776576.0);
    const attnscope::Run flash = open("blackwell-flash-splitkv-details.csv");
    EXPECT_EQ(value(flash, "dram__bytes_read.sum"), 4.74e6);
    EXPECT_EQ(value(flash, "dram__bytes_write.sum"), 0.0);
    EXPECT_EQ(flash.processes[0].launches.at(0).grid, (Dim3{1, 8, 10}));
}

TEST(NsightCompute, WhatIsWrittenReadsBack) {
    const attnscope::Run run =
        import_bytes(std::string(kNew) + row("Occupancy", "Achieved Occupancy", "%", "16.73") +
                     row("Command line profiler metrics", "flop_count_hp.sum", "", "n/a"));
    TemporaryFolder folder;
    write_imported_run(run, folder.path() / "run", false);
    const attnscope::Run back = read_run(folder.path() / "run");
    EXPECT_EQ(value(back, "sm__warps_active.avg.pct_of_peak_sustained_active"), 16.73);
    EXPECT_EQ(back.processes[0].counter_ground, Ground::imported);
    EXPECT_TRUE(back.counters_replay);
    for (const Diagnostic& d : back.processes[0].diagnostics)
        EXPECT_TRUE(d.code.starts_with("import-")) << d.message;
}

}  // namespace
}  // namespace attnscope::test
