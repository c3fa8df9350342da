// The whole library in a program of its own, over a driver and a CUPTI small enough to be read at once
// (programs/fake_*.cpp), which misbehave on request. Right values: what the program was told to launch.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lines.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::of_type;

std::string build() {
    return std::getenv("ATTNSCOPE_BINARY_DIR");
}

struct SessionTest : testing::Test {
    fs::path folder;
    std::string output;

    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-session-" + std::to_string(getpid()) + '-' +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    /// The program's exit code, 128+n for a signal.
    int run(const std::string& arguments, const std::string& behaviour = "good",
            const std::string& more = "") {
        const std::string injection = build() + "/lib/attnscope/libattnscope_injection.so";
        const std::string command = "FAKE_CUPTI=" + behaviour + " ATTNSCOPE_RUN_DIR=" + folder.string() +
                                    " CUDA_INJECTION64_PATH=" + injection +
                                    " NVTX_INJECTION64_PATH=" + injection + ' ' + more + " exec " + build() +
                                    "/tests/collector/attnscope_session_program " + arguments + " > " +
                                    (folder / "stdout").string();
        const int status = std::system(command.c_str());
        output = test::read_file(folder / "stdout");
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    std::vector<json> lines() const {
        const auto files = test::process_files(folder);
        EXPECT_EQ(files.size(), 1u);
        return files.empty() ? std::vector<json>() : test::parse_lines(test::read_file(files[0]));
    }
    static std::string diagnostics(const fs::path& path) {
        std::ifstream file(path);
        std::string found;
        for (std::string line; std::getline(file, line);)
            if (line.find("\"type\":\"diagnostic\"") != std::string::npos) found += line + '\n';
        return found;
    }
    static bool says(const std::vector<json>& lines, const std::string& code) {
        for (const json& line : of_type(lines, "diagnostic"))
            if (line.at("code") == code) return true;
        return false;
    }
};

TEST_F(SessionTest, RecordsWhatWasLaunched) {
    EXPECT_EQ(run("init launch=100 exit=7"), 7);
    EXPECT_EQ(output, "output\n");
    const auto all = lines();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0].at("type"), "process");
    EXPECT_EQ(all[0].at("schema"), "attnscope-run");
    EXPECT_EQ(all[0].at("ground"), "real");
    EXPECT_EQ(all[0].at("cuda_driver"), 13000);
    EXPECT_EQ(all[0].at("cupti"), 130001);
    EXPECT_EQ(of_type(all, "kernel").size(), 100u);
    EXPECT_EQ(of_type(all, "kernel")[0].at("start_ns"), 10);
    EXPECT_EQ(of_type(all, "diagnostic").size(), 0u);
    EXPECT_EQ(
        all.back(),
        json::parse(R"({"type":"end","kernels":100,"memcpys":0,"memsets":0,"library_calls":0,"dropped":0})"));
}

TEST_F(SessionTest, AMillionLaunchesFromEightThreadsAreCountedExactly) {
    EXPECT_EQ(run("init threads=125000 memory"), 0);
    const auto files = test::process_files(folder);
    ASSERT_EQ(files.size(), 1u);
    // Counted without our writer's own counters, and without holding a million documents.
    std::ifstream file(files[0]);
    size_t kernels = 0, with_thread = 0;
    std::vector<bool> seen(1'100'000);
    std::string last;
    for (std::string line; std::getline(file, line); last = line) {
        if (line.find("\"type\":\"kernel\"") == std::string::npos) continue;
        ++kernels;
        with_thread += line.find("\"thread\":") != std::string::npos ? 1 : 0;
        const size_t correlation =
            std::strtoul(line.c_str() + line.find("\"correlation\":") + 14, nullptr, 10);
        ASSERT_LT(correlation, seen.size());
        EXPECT_FALSE(seen[correlation]) << "twice: " << correlation;
        seen[correlation] = true;
    }
    EXPECT_EQ(kernels, 1'000'000u);
    EXPECT_EQ(with_thread, 1'000'000u);
    EXPECT_EQ(json::parse(last).at("kernels"), 1'000'000);
    EXPECT_EQ(json::parse(last).at("dropped"), 0);
    if (HasFailure()) ADD_FAILURE() << "it says:\n" << diagnostics(files[0]);
    // Resident peak in kB; the program alone needs about 4 MB.
    const size_t peak = std::strtoul(output.c_str() + output.find("VmHWM:") + 6, nullptr, 10);
    EXPECT_GT(peak, 1000u);
    EXPECT_LT(peak, 68u * 1024);
}

TEST_F(SessionTest, ASlowLastFlushIsWaitedForWhileRecordsCome) {
    // Eight buffers, one a thread: nearly 10 seconds, twice what a CUPTI that stands still would get.
    EXPECT_EQ(run("init threads=10", "slow"), 0);
    const auto all = lines();
    EXPECT_EQ(of_type(all, "kernel").size(), 80u);
    EXPECT_FALSE(says(all, "exit-flush-timeout"));
}

TEST_F(SessionTest, NvtxRangesReachTheLaunches) {
    EXPECT_EQ(run("push init nvtx"), 0);
    const auto all = lines();
    std::map<std::string, json> ranges;
    for (const json& range : of_type(all, "range")) ranges[range.at("name")] = range;
    ASSERT_EQ(ranges.size(), 5u);
    const json& before = ranges.at("before cuInit");
    const json& naive = ranges.at("attnscope.implementation/naive");
    const json& outer = ranges.at("outer");
    const json& wide = ranges.at("wide \xE2\x82\xAC");
    EXPECT_EQ(naive.at("kind"), "process");
    EXPECT_EQ(outer.at("kind"), "thread");
    EXPECT_EQ(outer.at("parent"), before.at("id"));
    EXPECT_EQ(wide.at("parent"), outer.at("id"));
    EXPECT_EQ(wide.at("domain"), "lib\"rary");
    auto kernels = of_type(all, "kernel");
    std::sort(kernels.begin(), kernels.end(),
              [](const json& a, const json& b) { return a.at("correlation") < b.at("correlation"); });
    ASSERT_EQ(kernels.size(), 6u);
    EXPECT_EQ(kernels[0].at("range"), before.at("id"));         // the thread's own range goes first
    EXPECT_EQ(kernels[0].at("process_range"), naive.at("id"));  // and the process's is named too
    EXPECT_EQ(kernels[1].at("range"), naive.at("id"));          // a thread without ranges
    EXPECT_NE(kernels[1].at("thread"), kernels[0].at("thread"));
    EXPECT_EQ(kernels[2].at("range"), wide.at("id"));
    EXPECT_FALSE(kernels[2].contains("process_range"));  // it lies inside the process's range
    EXPECT_EQ(kernels[3].at("range"), wide.at("id"));
    EXPECT_FALSE(kernels[4].contains("range"));  // the pop that was one too many ended "before cuInit"
    EXPECT_EQ(kernels[5].at("range"), ranges.at("never popped").at("id"));
    const auto marks = of_type(all, "mark");
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_EQ(marks[0].at("name"), "attnscope.workload {\"batch\":8}");
    EXPECT_EQ(marks[1].at("name"), "bad \xEF\xBF\xBD bytes");
    EXPECT_EQ(of_type(all, "range_end").size(), 4u);
}

TEST_F(SessionTest, WithoutCudaNothingIsWritten) {
    EXPECT_EQ(run("push nvtx"), 0);
    EXPECT_TRUE(test::process_files(folder).empty());
}

TEST_F(SessionTest, AKilledProgramLeavesAFileThatLoads) {
    EXPECT_EQ(run("init launch=1000 sleep=900 kill"), 128 + 9);
    const std::string text = test::read_file(test::process_files(folder).at(0));
    EXPECT_EQ(text.back(), '\n');
    const auto all = lines();
    EXPECT_EQ(of_type(all, "kernel").size(), 1000u);
    EXPECT_TRUE(of_type(all, "end").empty());
}

TEST_F(SessionTest, AnAbortStaysAnAbort) {
    EXPECT_EQ(run("init launch=10 abort"), 128 + 6);
}

TEST_F(SessionTest, AForkedChildDoesNothing) {
    EXPECT_EQ(run("init launch=10 fork launch=10 exit=3"), 3);
    EXPECT_EQ(of_type(lines(), "kernel").size(), 20u);
    EXPECT_TRUE(of_type(lines(), "range").empty());
}

TEST_F(SessionTest, ClosingAllDescriptorsHarmsNeitherSide) {
    EXPECT_EQ(run("init launch=10 closefds launch=10"), 0);
    EXPECT_EQ(of_type(lines(), "kernel").size(), 20u);
}

TEST_F(SessionTest, TooOldRefusedOrAbsentCuptiLeavesTheProgramAlone) {
    EXPECT_EQ(run("init launch=10 exit=5", "old"), 5);
    EXPECT_TRUE(says(lines(), "cupti-too-old"));
    EXPECT_EQ(output, "output\n");
    fs::remove(test::process_files(folder).at(0));
    EXPECT_EQ(run("init exit=6", "refuses"), 6);
    const auto all = lines();
    EXPECT_TRUE(says(all, "cupti-refused"));
    EXPECT_NE(
        of_type(all, "diagnostic").at(0).at("message").get<std::string>().find("CUPTI_ERROR_NOT_INITIALIZED"),
        std::string::npos);
    EXPECT_EQ(all.back().at("type"), "end");
}

TEST_F(SessionTest, RecordsThatNoLongerComeAreReported) {
    EXPECT_EQ(run("init launch=10 sleep=2500", "taken"), 0);
    EXPECT_TRUE(says(lines(), "records-taken-over"));
}

TEST_F(SessionTest, DropsAreCounted) {
    EXPECT_EQ(run("init launch=10", "drops"), 0);
    const auto all = lines();
    EXPECT_EQ(all.back().at("dropped"), 17);
    EXPECT_TRUE(says(all, "records-dropped"));
}

TEST_F(SessionTest, AnUnwritableRunFolderLeavesTheProgramAlone) {
    EXPECT_EQ(run("init launch=10 nvtx exit=4", "good", "ATTNSCOPE_RUN_DIR=/proc/nowhere"), 4);
    EXPECT_EQ(output, "output\n");
}

TEST_F(SessionTest, EveryProcessHasItsFile) {
    EXPECT_EQ(run("init launch=1"), 0);
    EXPECT_EQ(run("init launch=1"), 0);
    EXPECT_EQ(test::process_files(folder).size(), 2u);
}

}  // namespace
}  // namespace attnscope
