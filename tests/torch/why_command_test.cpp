// `attnscope attention --why` on every virtual GPU, and the two workloads' answers beside each other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/end_to_end/harness.h"

namespace attnscope::test {
namespace {

using nlohmann::json;

/// The ids of the table of GPUs: of those rows alone that name a GPU.
std::set<std::string> devices() {
    std::ifstream table(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) + "/src/data/gpus.tsv");
    std::set<std::string> found;
    for (std::string line; std::getline(table, line);)
        if (const size_t at = line.find("\tcompute_capability\t"); at != std::string::npos)
            found.insert(line.substr(0, at));
    return found;
}

Outcome why(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"attention", "--why"});
    return attnscope(arguments);
}

TEST(WhyCommand, AnswersOnEveryVirtualGpu) {
    ASSERT_GE(devices().size(), 10U);
    for (const std::string& device : devices()) {
        SCOPED_TRACE(device);
        const Outcome outcome = why({"--device", "virtual:" + device, "--format", "json"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
        const json answer = json::parse(outcome.out);
        EXPECT_EQ(answer["device"], device);
        EXPECT_EQ(answer["ground"], "virtual");
        EXPECT_EQ(answer["choice"]["backends"].size(), 4U);
        EXPECT_NE(answer["choice"]["chosen"], "none") << "math takes everything";
        EXPECT_FALSE(answer["choice"]["order"].empty());
    }
}

TEST(WhyCommand, TextFitsEightyColumnsAndNothingStaysBehind) {
    Scratch scratch;
    const Outcome outcome = attnscope({"attention", "--why", "--device", "virtual:A100-SXM4-80GB",
                                       "--no-causal", "--mask", "bool", "--kv-heads", "4", "--dtype", "fp32"},
                                      {{"TMPDIR", scratch.path()}});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80U) << line;
    EXPECT_GT(count, 8U);
    EXPECT_NE(outcome.out.find("chooses math"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("would then be refused"), std::string::npos) << outcome.out;
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path())) << "the run of a question is not kept";
    EXPECT_FALSE(std::filesystem::exists("attnscope-out"));
}

TEST(WhyCommand, BadProblemsAreRefusedBeforeAnythingStarts) {
    EXPECT_EQ(why({"--device", "virtual:A100-SXM4-80GB", "--heads", "16", "--kv-heads", "5"}).exit_code, 2);
    EXPECT_EQ(why({"--device", "virtual:A100-SXM4-80GB", "--seq", "4611686018427387903"}).exit_code, 2);
    EXPECT_EQ(why({"--device", "virtual:A100-SXM4-80GB", "--dropout", "1"}).exit_code, 2);
    EXPECT_EQ(why({"--device", "virtual:no-such-gpu"}).exit_code, 2);
}

// Shapes beyond 2^31 elements, and beyond the device's memory, can be asked about: nothing is allocated.
TEST(WhyCommand, HugeShapesCanBeAsked) {
    const Outcome outcome = why(
        {"--device", "virtual:A100-SXM4-80GB", "--batch", "65536", "--seq", "131072", "--format", "json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["choice"]["chosen"], "flash");
}

TEST(WhyCommand, BothWorkloadsDescribeTheSameProblemAndGetTheSameAnswer) {
    if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
    const std::vector<std::string> arguments = {"--device",
                                                "virtual:H100-SXM5",
                                                "--no-causal",
                                                "--mask",
                                                "expanded",
                                                "--last-stride",
                                                "2",
                                                "--dropout",
                                                "0.25",
                                                "--layers",
                                                "3",
                                                "--kv-heads",
                                                "4",
                                                "--repeat-kv",
                                                "--backward",
                                                "--deterministic",
                                                "--reduced-precision-math",
                                                "--format",
                                                "json"};
    std::vector<std::string> with_python = arguments;
    with_python.insert(with_python.end(), {"--python", python()});
    const Outcome first = why(arguments), second = why(with_python);
    ASSERT_EQ(first.exit_code, 0) << first.err;
    ASSERT_EQ(second.exit_code, 0) << second.err;
    json cpp = json::parse(first.out), py = json::parse(second.out);
    EXPECT_EQ(cpp["problem"]["language"], "c++");
    EXPECT_EQ(py["problem"]["language"], "python");
    for (json* answer : {&cpp, &py}) {
        (*answer)["problem"].erase("language");
        (*answer)["problem"].erase("torch");  // "2.11.0" and "2.11.0+cu130"
    }
    EXPECT_EQ(cpp["problem"], py["problem"]);
    EXPECT_EQ(cpp["choice"]["chosen"], py["choice"]["chosen"]);
    EXPECT_EQ(cpp["choice"]["order"], py["choice"]["order"]);
    EXPECT_EQ(cpp["choice"]["refused"], py["choice"]["refused"]);
}

}  // namespace
}  // namespace attnscope::test
