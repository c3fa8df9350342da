// Nsight Compute's own reports, which NVIDIA's reader reads: a real one where the reader is installed, and
// every way in which that reader can fail, with shell scripts in its place.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "samples.h"
#include "trace.h"

namespace attnscope::test {
namespace {

namespace fs = std::filesystem;

const std::string kReport("NVR\0\x02\0\0\0rest", 12);
constexpr const char* kTable =
    "printf '\"ID\",\"Kernel "
    "Name\",\"Device\",\"CC\",\"dram__bytes_read.sum\"\\n\"\",\"\",\"\",\"\",\"Mbyte\"\\n"
    "\"0\",\"flash_fwd\",\"0\",\"9.0\",\"2.5\"\\n'\n";

/// ATTNSCOPE_PYTHON as long as it lives.
class Python {
  public:
    explicit Python(const fs::path& program) {
        if (const char* was = std::getenv("ATTNSCOPE_PYTHON")) was_ = was;
        setenv("ATTNSCOPE_PYTHON", program.c_str(), 1);
    }
    ~Python() {
        if (was_)
            setenv("ATTNSCOPE_PYTHON", was_->c_str(), 1);
        else
            unsetenv("ATTNSCOPE_PYTHON");
    }

  private:
    std::optional<std::string> was_;
};

/// A program in Python's place that does what `body` says.
fs::path script(const TemporaryFolder& folder, const std::string& body) {
    const fs::path program = folder.path() / "python";
    write(program, "#!/bin/sh\n" + body);
    fs::permissions(program, fs::perms::owner_all);
    return program;
}

std::string refusal_with(const std::string& body) {
    TemporaryFolder folder;
    const Python python(script(folder, body));
    return refusal(kReport, "a.ncu-rep");
}

bool says(const std::string& sentence, const std::string& part) {
    return sentence.find(part) != std::string::npos;
}

TEST(NsightComputeReport, IsReadByNvidiasReader) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    const char* python = std::getenv("ATTNSCOPE_PYTHON");
    const std::string has = std::string(python ? python : "python3") + " -c 'import ncu_report' 2> /dev/null";
    if (std::system(has.c_str()) != 0) GTEST_SKIP() << "no ncu-report: scripts/setup.sh installs it";
    const attnscope::Run run = import_files({*folder / "ncu/gh200-rms-norm.ncu-rep"});
    ASSERT_EQ(run.processes.size(), 1U);
    const Process& p = run.processes[0];
    ASSERT_EQ(p.launches.size(), 1U);
    const Launch& l = p.launches[0];
    // Source: what ncu_report 2026.3.1 itself gives for the only action of this file.
    EXPECT_TRUE(p.names.at(l.name).starts_with(
        "void at::native::<unnamed>::distribution_elementwise_grid_stride_kernel<float, (int)4, "));
    EXPECT_EQ(l.grid, (Dim3{1056, 1, 1}));
    EXPECT_EQ(l.block, (Dim3{256, 1, 1}));
    EXPECT_EQ(l.registers, 42U);
    EXPECT_EQ(l.stream, 7U);
    ASSERT_EQ(p.devices.size(), 1U);
    EXPECT_EQ(p.devices[0].name, "NVIDIA GH200 480GB");
    EXPECT_EQ(p.devices[0].sm_count, 132U);
    EXPECT_EQ(p.devices[0].shared_per_sm, 233472U);
    const auto value = [&](const std::string& metric) -> std::optional<double> {
        for (const CounterValue& v : p.counters.at(l.counters))
            if (p.metrics.at(v.metric) == metric) return v.value;
        return std::nullopt;
    };
    EXPECT_EQ(value("gpu__time_duration.sum"), 30080.0) << "nanoseconds";
    EXPECT_EQ(value("sm__warps_active.avg.pct_of_peak_sustained_active"), 50.92466388593534);
    EXPECT_FALSE(l.start_ns) << "replayed: not the program's time";
    EXPECT_TRUE(run.counters_replay);
    const std::string whole = read(*folder / "ncu/gh200-rms-norm.ncu-rep");
    const std::string cut = refusal(whole.substr(0, whole.size() / 2), "half.ncu-rep");
    EXPECT_TRUE(
        says(cut, "half.ncu-rep: an Nsight Compute report (.ncu-rep) that NVIDIA's reader cannot read"))
        << cut;
}

TEST(NsightComputeReport, WithoutTheReaderTheRemedyIsNamed) {
    const std::string missing = refusal_with("echo no module; exit 3");
    EXPECT_TRUE(says(missing, "-m pip install ncu-report")) << missing;
    EXPECT_TRUE(says(missing, "ncu --import FILE --csv --page raw")) << missing;
    const Python python("/nowhere/python");
    const std::string none = refusal(kReport, "a.ncu-rep");
    EXPECT_TRUE(says(none, "/nowhere/python cannot be started: No such file or directory")) << none;
    EXPECT_TRUE(says(none, "ncu --import FILE --csv --page raw")) << none;
}

TEST(NsightComputeReport, AReaderThatFailsIsNoCrashOfOurs) {
    EXPECT_TRUE(says(refusal_with("kill -SEGV $$"), "it was ended by signal 11"));
    EXPECT_TRUE(says(refusal_with("echo a newer version; exit 4"), "cannot read (a newer version)"));
    EXPECT_TRUE(says(refusal_with("exit 1"), "cannot read (exit code 1)"));
    EXPECT_TRUE(says(refusal_with("printf 'no table'"), "cannot read (no table)"));
}

TEST(NsightComputeReport, WhatWasReadBeforeTheReaderEndedStays) {
    TemporaryFolder folder;
    const Python python(script(folder, std::string(kTable) + "kill -SEGV $$"));
    const attnscope::Run run = import_bytes(kReport, "a.ncu-rep");
    ASSERT_EQ(run.processes.size(), 1U);
    EXPECT_EQ(run.processes[0].counters.at(0).at(0).value, 2.5e6);
    const Diagnostic* cut = diagnostic(run, "import-cut-short");
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->level, DiagnosticLevel::data_loss);
    EXPECT_TRUE(says(cut->message, "signal 11")) << cut->message;
    EXPECT_EQ(run.imported.at(0).format, "Nsight Compute report (.ncu-rep)");
}

}  // namespace
}  // namespace attnscope::test
