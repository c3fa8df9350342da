// `attnscope collect` over the virtual GPU: the built libraries, a CUDA runtime program and PyTorch,
// unmodified.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "lines.h"
#include "schema_check.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::of_type;

std::string build() {
    return std::getenv("ATTNSCOPE_BINARY_DIR");
}

struct EndToEnd : testing::Test {
    fs::path folder;
    std::string output, error;

    void SetUp() override {
        for (const char* library : {"libcuda.so.1", "libcudart.so.13", "libcupti.so.13"})
            if (!fs::exists(build() + "/lib/attnscope/virtual_gpu/" + library))
                GTEST_SKIP() << "the virtual GPU's " << library << " is not built";
        folder = fs::temp_directory_path() / ("attnscope-collect-" + std::to_string(getpid()) + '-' +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    void TearDown() override {
        if (!folder.empty()) fs::remove_all(folder);
    }
    int collect(const std::string& command, const std::string& device = "virtual:A100-SXM4-80GB") {
        const int status = std::system((build() + "/bin/attnscope collect --device " + device + " -o " +
                                        (folder / "run").string() + " -- " + command + " >" +
                                        (folder / "stdout").string() + " 2>" + (folder / "stderr").string())
                                           .c_str());
        output = test::read_file(folder / "stdout");
        error = test::read_file(folder / "stderr");
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string storm() const { return build() + "/tests/collector/attnscope_launch_storm"; }
    fs::path file() const {
        const auto files = test::process_files(folder / "run");
        EXPECT_EQ(files.size(), 1u);
        return files.empty() ? fs::path() : files[0];
    }
    /// Each line fits the schema.
    std::vector<json> lines() const {
        const json schema = test::schema();
        std::vector<json> all = test::parse_lines(test::read_file(file()));
        for (const json& line : all) EXPECT_EQ(test::fault(schema, line), "") << line;
        return all;
    }
};

TEST_F(EndToEnd, AMillionLaunchesFromEightThreadsAndStreams) {
    EXPECT_EQ(collect(storm() + " 125000"), 21);
    // The program counts what the runtime accepted; the lines are counted here.
    EXPECT_EQ(output.find("accepted 1000000 "), 0u) << output << error;
    std::ifstream lines(file());
    size_t kernels = 0;
    std::set<std::string> streams, threads;
    std::vector<bool> seen;
    std::string last;
    const auto value = [](const std::string& line, const std::string& key) {
        const size_t at = line.find("\"" + key + "\":");
        return at == std::string::npos
                   ? std::string()
                   : line.substr(at + key.size() + 3, line.find_first_of(",}", at) - at - key.size() - 3);
    };
    for (std::string line; std::getline(lines, line); last = line) {
        if (line.compare(0, 16, "{\"type\":\"kernel\"") != 0) continue;
        ++kernels;
        streams.insert(value(line, "stream"));
        threads.insert(value(line, "thread"));
        const size_t correlation = std::stoul(value(line, "correlation"));
        if (correlation >= seen.size()) seen.resize(correlation * 2);
        ASSERT_FALSE(seen[correlation]) << "recorded twice: " << line;
        seen[correlation] = true;
    }
    EXPECT_EQ(kernels, 1'000'000u);
    EXPECT_EQ(streams.size(), 8u);
    EXPECT_EQ(threads.size(), 8u);
    EXPECT_EQ(
        json::parse(last),
        json::parse(
            R"({"type":"end","kernels":1000000,"memcpys":0,"memsets":0,"library_calls":0,"dropped":0})"));
    const size_t peak = std::stoul(output.substr(output.find("peak") + 4));  // kB; 6 MB without the collector
    EXPECT_LT(peak, 72u * 1024);
}

TEST_F(EndToEnd, WhatTheRecordsSay) {
    EXPECT_EQ(collect(storm() + " 10"), 21);
    const auto all = lines();
    const json& process = all.at(0);
    EXPECT_EQ(process.at("type"), "process");
    EXPECT_EQ(process.at("ground"), "virtual");
    EXPECT_EQ(process.at("cuda_driver"), 13000);
    EXPECT_EQ(process.at("cuda_runtime"), 13000);
    const auto devices = of_type(all, "device");
    ASSERT_EQ(devices.size(), 1u);
    // A100: compute capability 8.0, 108 SMs, 164 KiB and 163 KiB of shared memory (CUDA programming guide,
    // compute capabilities).
    EXPECT_EQ(devices[0].at("id"), "A100-SXM4-80GB");
    EXPECT_EQ(devices[0].at("compute_major"), 8);
    EXPECT_EQ(devices[0].at("sm_count"), 108);
    EXPECT_EQ(devices[0].at("shared_per_sm"), 164 * 1024);
    EXPECT_EQ(devices[0].at("shared_per_cta_optin"), 163 * 1024);
    const auto kernels = of_type(all, "kernel");
    ASSERT_EQ(kernels.size(), 80u);
    EXPECT_EQ(of_type(all, "name").at(0).at("name"), "_Z8count_mePii");
    EXPECT_EQ(kernels[0].at("grid_x"), 3);
    EXPECT_EQ(kernels[0].at("grid_y"), 2);
    EXPECT_EQ(kernels[0].at("block_x"), 64);
    EXPECT_FALSE(kernels[0].contains("start_ns")) << "nobody measured it";
    EXPECT_TRUE(of_type(all, "diagnostic").empty());
}

TEST_F(EndToEnd, AKilledProgramLeavesAFileThatLoads) {
    EXPECT_EQ(collect(storm() + " 1000 kill"), 128 + 9);
    const auto all = lines();
    EXPECT_EQ(of_type(all, "kernel").size(), 8000u);
    EXPECT_TRUE(of_type(all, "end").empty());
    EXPECT_EQ(json::parse(test::read_file(folder / "run" / "run.json")).at("signal"), 9);
}

TEST_F(EndToEnd, SeveralVirtualDevices) {
    EXPECT_EQ(collect(storm() + " 10", "virtual:A100x3"), 21);
    EXPECT_EQ(of_type(lines(), "device").size(), 3u);
}

struct WithTorch : EndToEnd {
    std::string python;
    void SetUp() override {
        EndToEnd::SetUp();
        const char* named = std::getenv("ATTNSCOPE_PYTHON");
        python = named != nullptr && *named != '\0' ? named : "python3";
        if (!IsSkipped() &&
            std::system(
                (python + " -c 'import importlib.util as u, sys; sys.exit(u.find_spec(\"torch\") is None)'")
                    .c_str()) != 0)
            GTEST_SKIP() << python << " has no torch";
    }
    void script(const std::string& text) const { std::ofstream(folder / "program.py") << text; }
};

TEST_F(WithTorch, PythonKeepsItsExitCodeAndSaysItsVersions) {
    script(
        "import sys, torch\n"
        "x = torch.zeros(1000, device='cuda')\n"
        "torch.cuda.nvtx.range_push('step')\n"
        "y = x + 1\n"
        "torch.cuda.nvtx.range_pop()\n"
        "print(y.sum().item())\n"
        "print(torch.__version__)\n"
        "sys.exit(17)\n");
    EXPECT_EQ(collect(python + ' ' + (folder / "program.py").string()), 17) << error;
    const auto all = lines();
    const auto ranges = of_type(all, "range");
    ASSERT_EQ(ranges.size(), 1u);
    EXPECT_EQ(ranges[0].at("name"), "step");
    size_t inside = 0;
    for (const json& kernel : of_type(all, "kernel"))
        inside += kernel.value("range", 0) == ranges[0].at("id") ? 1 : 0;
    EXPECT_EQ(inside, 1u);
    bool torch_named = false;
    for (const json& library : of_type(all, "library"))
        if (library.at("name") == "libtorch") {
            torch_named = true;
            EXPECT_NE(output.find(library.at("version").get<std::string>()), std::string::npos)
                << library << output;
        }
    EXPECT_TRUE(torch_named);
    const auto reads = of_type(all, "uncomputed_read");
    ASSERT_EQ(reads.size(), 1u);
    EXPECT_NE(reads[0].at("location").get<std::string>().find("program.py:6"), std::string::npos);
}

TEST_F(WithTorch, TheProgramsOwnProfilerIsSeen) {
    script(
        "import torch, time\n"
        "x = torch.zeros(1000, device='cuda') + 1\n"
        "time.sleep(0.6)\n"
        "with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]): y = x + 1\n"
        "time.sleep(2.5)\n"
        "raise SystemExit(3)\n");
    EXPECT_EQ(collect(python + ' ' + (folder / "program.py").string()), 3) << error;
    bool said = false;
    for (const json& line : of_type(lines(), "diagnostic"))
        said = said || line.at("code") == "records-taken-over";
    EXPECT_TRUE(said);
}

}  // namespace
}  // namespace attnscope
