// One clear sentence with the remedy, the exit code of DESIGN.md's table, nothing half written.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness.h"

namespace attnscope::test {
namespace {

/// One line on stderr that starts with the program's name.
void expect_sentence(const Outcome& outcome, int exit_code, const std::string& word) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_NE(outcome.err.find(word), std::string::npos) << "no '" << word << "' in: " << outcome.err;
    EXPECT_EQ(outcome.err.find("terminate called"), std::string::npos) << outcome.err;
}

TEST(BadInput, UnknownDevice) {
    const Outcome outcome = attnscope({"attention", "--device", "virtual:H9000", "-o", "/tmp/never-written"});
    expect_sentence(outcome, 2, "H100-SXM5");
    EXPECT_FALSE(std::filesystem::exists("/tmp/never-written"));
}

TEST(BadInput, ImpossibleShapes) {
    Scratch scratch;
    expect_sentence(
        attnscope({"attention", "--device", "virtual:A100", "-o", scratch.path("a"), "--head-dim", "0"}), 2,
        "head-dim");
    expect_sentence(attnscope({"attention", "--device", "virtual:A100", "-o", scratch.path("b"), "--heads",
                               "8", "--kv-heads", "3"}),
                    2, "multiple");
    expect_sentence(attnscope({"attention", "--device", "virtual:A100", "-o", scratch.path("c"), "--batch",
                               "4611686018427387904"}),
                    2, "");
    expect_sentence(
        attnscope({"attention", "--device", "virtual:A100", "-o", scratch.path("d"), "--only", "sdpa_magic"}),
        2, "sdpa_magic");
    for (const char* name : {"a", "b", "c", "d"})
        EXPECT_FALSE(std::filesystem::exists(scratch.path(name) + "/report.md"));
}

TEST(BadInput, UnwritableOutput) {
    const Outcome outcome = attnscope({"attention", "--device", "virtual:A100", "-o", "/proc/attnscope"});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("/proc/attnscope"), std::string::npos) << outcome.err;
}

TEST(BadInput, ProgramNotFound) {
    Scratch scratch;
    expect_sentence(
        attnscope({"collect", "--device", "virtual:A100", "-o", scratch.path("r"), "--", "/no/such/program"}),
        125, "/no/such/program");
}

TEST(BadInput, ReportsOfWhatIsNotARun) {
    Scratch scratch;
    expect_sentence(attnscope({"report", scratch.path("absent")}), 2, "absent");
    expect_sentence(attnscope({"report", scratch.path()}), 2, scratch.path());
    std::filesystem::create_directory(scratch.path("newer"));
    std::ofstream(scratch.path("newer/run.json")) << R"({"schema":"attnscope-run","version":"9.0"})";
    expect_sentence(attnscope({"report", scratch.path("newer")}), 2, "9.0");
}

TEST(BadInput, UsageNamesTheOption) {
    expect_sentence(attnscope({"attention", "--no-such-option"}), 2, "--no-such-option");
    expect_sentence(attnscope({"frobnicate"}), 2, "frobnicate");
    EXPECT_EQ(attnscope({"--version"}).out.rfind("attnscope ", 0), 0U);
}

// The program's own exit code comes back; 128+n for a signal.
TEST(BadInput, ExitCodesOfTheProgram) {
    Scratch scratch;
    EXPECT_EQ(attnscope({"collect", "--device", "virtual:A100", "-o", scratch.path("a"), "--", "sh", "-c",
                         "exit 7"})
                  .exit_code,
              7);
    EXPECT_EQ(attnscope({"collect", "--device", "virtual:A100", "-o", scratch.path("b"), "--", "sh", "-c",
                         "kill -9 $$"})
                  .exit_code,
              137);
}

// A run cut at any place loads, with the loss said.
TEST(BadInput, ARunCutShortLoads) {
    Scratch scratch;
    const Outcome outcome = attnscope({"collect", "--device", "virtual:A100", "-o", scratch.path("run"), "--",
                                       binary("attention_workload"), "--only", "sdpa_flash", "--batch", "1"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path("run")))
        if (entry.path().extension() == ".jsonl") file = entry.path();
    ASSERT_FALSE(file.empty());
    const auto size = std::filesystem::file_size(file);
    std::filesystem::resize_file(file, size - size / 3);
    const Outcome report = attnscope({"report", scratch.path("run"), "--format", "text"});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    EXPECT_NE(report.out.find("data lost"), std::string::npos) << report.out;
    // What was lost is not 0.
    const Analysis analysis = analyze(read_run(scratch.path("run")));
    ASSERT_EQ(analysis.implementations.size(), 1U);
    EXPECT_FALSE(analysis.implementations[0].launches && *analysis.implementations[0].launches.number == 0);
}

}  // namespace
}  // namespace attnscope::test
