// attnscope metrics, as a user calls it. Right values: those of tests/counters/catalogue_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/command.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using test::Outcome;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

Outcome run(const std::string& arguments, const std::map<std::string, std::string>& variables = {}) {
    return test::typed("metrics " + arguments, variables);
}

class Metrics : public testing::Test {
  protected:
    void SetUp() override {
        const std::string library = environment("ATTNSCOPE_CUDA_ROOT") + "/lib/libcupti.so.13";
        if (fs::exists(library)) setenv("ATTNSCOPE_CUPTI", library.c_str(), 1);
        if (run("--set core").err.find("ATTNSCOPE_") != std::string::npos)
            GTEST_SKIP() << "no libcupti, or a build without collectors";
    }
    void says(const std::string& arguments, const std::string& words) {
        const Outcome result = run(arguments);
        EXPECT_EQ(result.exit_code, 0) << arguments << result.err;
        EXPECT_NE(result.out.find(words), std::string::npos) << arguments << " said: " << result.out;
    }
    void refuses(const std::string& arguments, const std::string& words) {
        const Outcome result = run(arguments);
        EXPECT_EQ(result.exit_code, 2) << arguments;
        EXPECT_EQ(result.out, "") << arguments;
        EXPECT_NE(result.err.find(words), std::string::npos) << arguments << " said: " << result.err;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
};

TEST_F(Metrics, OfADefaultChip) {
    says("", "GH100, by CUPTI");
    says("", "core: 8 counters, 1 pass, no replay");
    says("", "needs --replay");
}

TEST_F(Metrics, OfASetWithCountersUnitsAndMeaning) {
    says("--set core --chip gb202", "dram__bytes_op_read.sum");
    says("--set core --device A100", "GA100, by CUPTI");
    says("--set core --chip GB20B", "not on this chip: its memory is the system's");
    says("--set core", "achieved occupancy [%]");
    says("--set core", "serialised\n    by the profiler");
}

TEST_F(Metrics, PassesForAnything) {
    says("--passes-for core", "GH100: 8 counters, 1 pass, no replay");
    says("--passes-for core,sm__throughput.avg.pct_of_peak_sustained_elapsed", "needs --replay");
    says("--passes-for core,dram__bytes_op_read.sum",
         "not collected: dram__bytes_op_read.sum: GH100 has no such");
    says("--passes-for core,pcie__read_bytes.sum", "CUPTI refuses it beside the others");
    refuses("--passes-for dram__bytes_raed.sum", "dram__bytes_read.sum");
}

TEST_F(Metrics, SearchCoversRolesAndCuptisOwn) {
    says("--search 'L2 hit rate'", "l2_hit_rate: L2 hit rate [%]");
    says("--search lts__t_sector_hit_rate", "lts__t_sector_hit_rate: ratio");
    says("--search dram__bytes_read", "roll-ups: .avg");
    refuses("--search flubber", "no metric of GH100 has \"flubber\"");
}

TEST_F(Metrics, AllChips) {
    const Outcome result = run("--all-chips --format json");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json chips = Json::parse(result.out)["chips"];
    ASSERT_EQ(chips.size(), 30U);
    size_t planned = 0;
    for (const Json& chip : chips) {
        if (chip.contains("refused")) {
            EXPECT_EQ(chip["chip"], "GV11B");
            continue;
        }
        ++planned;
        EXPECT_EQ(chip["sets"][0]["set"], "core");
        EXPECT_EQ(chip["sets"][0]["passes"], 1) << chip["chip"];
    }
    EXPECT_EQ(planned, 29U);
    says("--all-chips", "\nGB20B   1 ");
    says("--all-chips", "GV11B and then refuses it");
}

TEST_F(Metrics, NsightComputesSetsTakeMorePasses) {
    for (const char* chip : {"TU102", "GH100", "GB10B"}) {  // the last without DRAM counters
        const Outcome result = run("--compare-sets --format json --chip " + std::string(chip));
        ASSERT_EQ(result.exit_code, 0) << result.err;
        const Json compared = Json::parse(result.out)["chips"][0];
        EXPECT_EQ(compared["core"], 1);
        std::map<std::string, int> passes;
        for (const Json& row : compared["compared"]) passes[row["nsight_compute"]] = row["passes"];
        EXPECT_GE(passes["set basic"], 5) << chip;
        EXPECT_GE(passes["set full"], 10) << chip;
        EXPECT_EQ(passes["section Occupancy"], 1) << chip;
    }
    says("--compare-sets", "section Occupancy");
}

TEST_F(Metrics, JsonHoldsEveryRole) {
    const Json json = Json::parse(run("--chip GB10B --set core --format json").out);
    const Json& core = json["chips"][0]["sets"][0];
    EXPECT_EQ(core["roles"].size(), 8U);
    EXPECT_EQ(core["roles"][0]["metrics"][0], "sm__warps_active.avg.pct_of_peak_sustained_active");
    EXPECT_TRUE(core["roles"][1].contains("absent"));
    EXPECT_FALSE(core["roles"][1].contains("metrics"));
    EXPECT_GT(Json::parse(run("--search tensor --format json").out)["metrics"].size(), 50U);
    EXPECT_EQ(Json::parse(run("--passes-for core --format json").out)["passes"], 1);
}

TEST_F(Metrics, MistakesAreNamedWithWhatThereIs) {
    refuses("--chip GH900", "it knows GV100");
    refuses("--device H900", "unknown device \"H900\"; known: ");
    refuses("--set memry", "there are core, memory");
    refuses("--set core --search x", "ask one");
    refuses("--chip GH100 --all-chips", "without --chip");
    refuses("--chip GH100 --device A100", "not both");
}

TEST_F(Metrics, LinesFitATerminal) {
    for (const char* arguments : {"--set core", "--set memory", "--all-chips", "--compare-sets",
                                  "--passes-for core,pcie__read_bytes.sum"}) {
        std::istringstream lines(run(arguments).out);
        for (std::string line; std::getline(lines, line);)
            EXPECT_TRUE(line.size() <= 80 || line.find("__") != std::string::npos) << line;
    }
}

TEST(MetricsWithout, CuptiNamesTheRemedy) {
    if (!fs::exists(environment("ATTNSCOPE_BINARY_DIR") + "/lib/attnscope/attnscope_cupti_host")) {
        const Outcome result = run("");
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_NE(result.err.find("ATTNSCOPE_BUILD_COLLECTORS"), std::string::npos) << result.err;
        GTEST_SKIP() << "a build without collectors";
    }
    const Outcome result = run("", {{"ATTNSCOPE_CUPTI", "/nowhere/libcupti.so.13"}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("/nowhere/libcupti.so.13: no such file"), std::string::npos) << result.err;
}

TEST(MetricsWithout, ATableOfTheUsersOwn) {
    const std::string table = "metrics-test-" + std::to_string(getpid()) + ".tsv";
    std::ofstream(table) << "r\tt\tcore\tparsecs\ta.sum\tM.\n";
    const Outcome result = run("", {{"ATTNSCOPE_METRICS", table}});
    fs::remove(table);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("line 1: unknown unit"), std::string::npos) << result.err;
    EXPECT_NE(run("", {{"ATTNSCOPE_METRICS", "/nowhere"}}).err.find("/nowhere: cannot be read"),
              std::string::npos);
}

}  // namespace
}  // namespace attnscope
