// What may be asked of the counters, and what is said before the program starts. Right values: the real
// libcupti's own answers (which metrics a chip has, in how many passes), as measured with CUPTI 13.0's host
// API: the core set is one pass on every chip with DRAM byte counters, core with memory and stalls is not;
// GB202 has no dram__bytes_read.
#include "harness.h"

namespace attnscope::test {
namespace {

struct CountersRequest : LauncherTest {
    void SetUp() override {
        LauncherTest::SetUp();
        if (!IsSkipped() && libcupti().empty())
            GTEST_SKIP() << "no libcupti with its host side on this machine";
        setenv("ATTNSCOPE_CUPTI", libcupti().c_str(), 1);
    }
    void TearDown() override {
        unsetenv("ATTNSCOPE_CUPTI");
        LauncherTest::TearDown();
    }
};

TEST_F(CountersRequest, WithoutThemNothingIsDifferent) {
    const Outcome r = collect("-o run -- sh -c 'env | grep ^ATTNSCOPE_COUNTERS; exit 4'",
                              "ATTNSCOPE_COUNTERS=kernel ATTNSCOPE_COUNTERS_REPLAY=1");
    EXPECT_EQ(r.code, 4);
    EXPECT_EQ(r.out, "") << "what was inherited is not the program's";
    EXPECT_EQ(run_json().at("collections"), nlohmann::json::array({"activity"}));
    EXPECT_FALSE(run_json().contains("counters"));
    EXPECT_FALSE(fs::exists(folder / "run/counters"));
    EXPECT_EQ(collect("-o none --counters none -- true").code, 0);
    EXPECT_FALSE(run_json("none").contains("counters"));
}

TEST_F(CountersRequest, BadOnesAreOneSentenceAndStartNothing) {
    for (const std::string arguments :
         {"--range nvtx", "--replay kernel", "--timing separate", "--counters none --timing separate",
          "--counters core --range grid", "--counters core --replay ranges", "--counters core --timing both",
          "--counters core --range nvtx --replay kernel", "--counters core,", "--counters ''",
          "--counters none,core"}) {
        const Outcome r = collect("-o run " + arguments + " -- touch started");
        EXPECT_EQ(r.code, 2) << arguments << ": " << r.error;
        EXPECT_EQ(sentences(r.error), 1u) << r.error;
        EXPECT_FALSE(fs::exists(folder / "run")) << arguments;
        EXPECT_FALSE(fs::exists(folder / "started")) << arguments;
    }
}

TEST_F(CountersRequest, AMetricThatNoChipHasOffersTheNearest) {
    const Outcome r = collect("-o run --counters core,dram__bytes_reed.sum -- touch started");
    EXPECT_EQ(r.code, 2);
    EXPECT_TRUE(holds(r.error, "dram__bytes_reed.sum")) << r.error;
    EXPECT_TRUE(holds(r.error, "dram__bytes_read.sum")) << r.error;
    EXPECT_FALSE(fs::exists(folder / "run"));
    EXPECT_FALSE(fs::exists(folder / "started"));
}

TEST_F(CountersRequest, ThePlanIsSaidAndKept) {
    const Outcome r = collect("-o run --counters core -- sh -c 'env | grep ^ATTNSCOPE_COUNTERS; exit 5'");
    EXPECT_EQ(r.code, 5);
    EXPECT_EQ(r.out, "ATTNSCOPE_COUNTERS=kernel\n");
    EXPECT_TRUE(holds(r.error, "counters core (GH100: ")) << r.error;
    EXPECT_TRUE(holds(r.error, " in 1 pass)")) << r.error;
    EXPECT_TRUE(holds(r.error, "not measured: virtual GPU")) << r.error;
    const auto counters = run_json().at("counters");
    EXPECT_EQ(counters.at("request"), "core");
    EXPECT_EQ(counters.at("range"), "kernel");
    EXPECT_EQ(counters.at("replay"), false);
    EXPECT_EQ(counters.at("passes"), nlohmann::json({{"GH100", 1}}));
    const auto& metrics = counters.at("metrics");
    EXPECT_NE(std::find(metrics.begin(), metrics.end(), "dram__bytes_read.sum"), metrics.end());
    EXPECT_EQ(run_json().at("collections"), nlohmann::json::array({"counters"}));
    EXPECT_TRUE(fs::exists(folder / "run/counters/closed"));
}

TEST_F(CountersRequest, TheRangeAndTheReplayReachTheProgram) {
    EXPECT_EQ(
        collect("-o a --counters core --range implementation -- sh -c 'env | grep ^ATTNSCOPE_COUNTERS'").out,
        "ATTNSCOPE_COUNTERS=range-implementation\n");
    EXPECT_EQ(collect("-o b --counters core --range nvtx -- sh -c 'env | grep ^ATTNSCOPE_COUNTERS'").out,
              "ATTNSCOPE_COUNTERS=range-nvtx\n");
    EXPECT_EQ(run_json("b").at("counters").at("range"), "nvtx");
    EXPECT_EQ(
        collect("-o c --counters core --replay kernel -- sh -c 'env | grep ^ATTNSCOPE_COUNTERS | sort'").out,
        "ATTNSCOPE_COUNTERS=kernel\nATTNSCOPE_COUNTERS_REPLAY=1\n");
    EXPECT_EQ(run_json("c").at("counters").at("replay"), true);
}

TEST_F(CountersRequest, MorePassesThanOneAreRefusedUnlessKernelsAreReplayed) {
    const std::string many = "--counters core,memory,stalls";
    const Outcome r = collect("-o run " + many + " -- touch started");
    EXPECT_EQ(r.code, 2);
    EXPECT_EQ(sentences(r.error), 1u) << r.error;
    EXPECT_TRUE(holds(r.error, " passes on GH100")) << r.error;
    EXPECT_TRUE(holds(r.error, "--counters core\n")) << "what fits in one: " << r.error;
    EXPECT_FALSE(fs::exists(folder / "started"));
    EXPECT_FALSE(fs::exists(folder / "run"));
    const Outcome replayed = collect("-o run " + many + " --replay kernel -- true");
    EXPECT_EQ(replayed.code, 0);
    const auto passes = run_json().at("counters").at("passes").at("GH100").get<int>();
    EXPECT_GT(passes, 1);
    EXPECT_TRUE(holds(replayed.error, "each kernel runs " + std::to_string(passes) + " times"))
        << replayed.error;
    EXPECT_TRUE(holds(r.error, "needs " + std::to_string(passes) + " passes on GH100")) << r.error;
}

TEST_F(CountersRequest, EveryChipHasItsOwnNames) {
    const Outcome r = shell(program() + " collect --device virtual:RTX-5090x2 -o gb --counters core -- true");
    EXPECT_EQ(r.code, 0) << r.error;
    const auto counters = run_json("gb").at("counters");
    EXPECT_EQ(counters.at("passes"), nlohmann::json({{"GB202", 1}}));
    const auto& metrics = counters.at("metrics");
    EXPECT_NE(std::find(metrics.begin(), metrics.end(), "dram__bytes_op_read.sum"), metrics.end());
}

TEST_F(CountersRequest, AMetricThatIsNotOnThisChipIsNamedAndTheRestCollected) {
    const Outcome r = shell(program() +
                            " collect --device virtual:RTX-5090 -o run --counters "
                            "gpu__time_duration.sum,dram__bytes_read.sum -- true");
    EXPECT_EQ(r.code, 0) << r.error;
    EXPECT_TRUE(holds(r.error, "dram__bytes_read.sum is not on GB202")) << r.error;
    EXPECT_EQ(run_json().at("counters").at("metrics"), nlohmann::json::array({"gpu__time_duration.sum"}));
    const auto said = diagnostics("counters-metric-absent");
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(holds(said[0].at("message"), "dram__bytes_read.sum"));
    EXPECT_EQ(said[0].at("count"), 1);
}

TEST_F(CountersRequest, NothingOfItOnThisChipIsARunWithoutCounters) {
    const Outcome r =
        shell(program() +
              " collect --device virtual:RTX-5090 -o run --counters dram__bytes_read.sum -- sh -c "
              "'env | grep ^ATTNSCOPE_COUNTERS; exit 3'");
    EXPECT_EQ(r.code, 3) << r.error;
    EXPECT_EQ(r.out, "");
    EXPECT_TRUE(holds(r.error, "no counters are collected")) << r.error;
    EXPECT_EQ(diagnostics("counters-metric-absent").size(), 1u);
    EXPECT_EQ(run_json().at("collections"), nlohmann::json::array({"activity"}));
}

TEST_F(CountersRequest, TheVariableMayNameSeveralLibraries) {
    const Outcome r =
        collect("-o run --counters core -- true", "ATTNSCOPE_CUPTI=/nowhere/libcupti.so.12:" + libcupti());
    EXPECT_EQ(r.code, 0);
    EXPECT_TRUE(holds(r.error, " in 1 pass)")) << r.error;
}

TEST_F(CountersRequest, WithoutALibcuptiTheProgramStillRuns) {
    std::ofstream(folder / "fixture.json") << R"({"attnscope_fixture": 1, "kernels": []})";
    const std::string none = "ATTNSCOPE_CUPTI=" + (folder / "libcupti.so.13").string();
    const Outcome plain = collect(
        "-o run --counters core --timing separate -- sh -c 'env | grep ^ATTNSCOPE_COUNTERS; exit 6'", none);
    EXPECT_EQ(plain.code, 6);
    EXPECT_EQ(plain.out, "") << "once, and without counters";
    EXPECT_TRUE(holds(plain.error, "not measured: virtual GPU")) << plain.error;
    EXPECT_EQ(diagnostics("counters-virtual").size(), 1u);
    EXPECT_EQ(run_json().at("collections"), nlohmann::json::array({"activity"}));
    EXPECT_EQ(run_json().at("counters").at("metrics"), nlohmann::json::array());
    const Outcome fed = collect("-o run --force --counters core -- sh -c 'exit 7'",
                                none + " ATTNSCOPE_VGPU_COUNTERS=" + (folder / "fixture.json").string());
    EXPECT_EQ(fed.code, 7);
    ASSERT_EQ(diagnostics("counters-no-cupti").size(), 1u) << fed.error;
    EXPECT_NE(diagnostics("counters-no-cupti")[0].at("remedy"), "");
}

TEST_F(CountersRequest, AFixtureIsSaidToBeOne) {
    std::ofstream(folder / "fixture.json") << R"({"attnscope_fixture": 1, "kernels": []})";
    const std::string fed = "ATTNSCOPE_VGPU_COUNTERS=" + (folder / "fixture.json").string();
    EXPECT_TRUE(holds(collect("-o run --counters core -- true", fed).error, "values from the fixture"));
    const Outcome missing = collect("-o no --counters core -- true", fed + ".missing");
    EXPECT_EQ(missing.code, 2);
    EXPECT_TRUE(holds(missing.error, "fixture.json.missing")) << missing.error;
}

}  // namespace
}  // namespace attnscope::test
