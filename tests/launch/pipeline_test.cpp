// The whole way, launcher, injection library, stand-in and helper program, with values from a fixture. Right
// values: the fixture's own, and the launches that the program counts by itself
// (tests/collector/programs/launch_storm.cpp ends with exit code 21).
#include <chrono>
#include <set>

#include "harness.h"

namespace attnscope::test {
namespace {

constexpr double kRead = 1234, kOccupancy = 42.5;

struct Pipeline : LauncherTest {
    void SetUp() override {
        LauncherTest::SetUp();
        if (!IsSkipped() && libcupti().empty())
            GTEST_SKIP() << "no libcupti with its host side on this machine";
        setenv("ATTNSCOPE_CUPTI", libcupti().c_str(), 1);
        std::ofstream(folder / "fixture.json")
            << nlohmann::json({{"attnscope_fixture", 1},
                               {"note", "made up"},
                               {"kernels",
                                {{{"match", "count_me"},
                                  {"metrics",
                                   {{"dram__bytes_read.sum", kRead},
                                    {"sm__warps_active.avg.pct_of_peak_sustained_active", kOccupancy}}}}}}});
    }
    void TearDown() override {
        unsetenv("ATTNSCOPE_CUPTI");
        LauncherTest::TearDown();
    }
    static std::string storm(int launches) {
        return build() + "/tests/collector/attnscope_launch_storm " + std::to_string(launches);
    }
    Outcome run(const std::string& arguments, bool fed = true) const {
        return shell(
            (fed ? "ATTNSCOPE_VGPU_COUNTERS=" + (folder / "fixture.json").string() + ' ' : std::string()) +
            program() + " collect --device virtual:A100-SXM4-80GB -o run " + arguments);
    }
    std::vector<fs::path> files(bool values) const {
        std::vector<fs::path> found;
        for (const fs::path& file : process_files(folder / "run"))
            if ((file.stem().extension() == ".counters") == values) found.push_back(file);
        return found;
    }
    static std::vector<nlohmann::json> lines(const fs::path& file, const std::string& type) {
        return of_type(parse_lines(read_file(file)), type);
    }
};

TEST_F(Pipeline, EveryLaunchHasTheFixturesValues) {
    const Outcome r = run(
        "--counters dram__bytes_read.sum,sm__warps_active.avg.pct_of_peak_sustained_active -- " + storm(5));
    EXPECT_EQ(r.code, 21) << r.error;
    ASSERT_EQ(files(true).size(), 1u) << r.error;
    ASSERT_EQ(files(false).size(), 1u);
    const fs::path values = files(true)[0];
    EXPECT_EQ(lines(values, "counters")[0].at("ground"), "fixture");
    std::set<uint64_t> launched, counted;
    for (const auto& kernel : lines(files(false)[0], "kernel"))
        launched.insert(kernel.at("correlation").get<uint64_t>());
    EXPECT_EQ(launched.size(), 40u) << "eight threads, five launches each";
    const auto counters = lines(values, "counter");
    EXPECT_EQ(counters.size(), 80u);
    for (const auto& counter : counters) {
        counted.insert(counter.at("correlation").get<uint64_t>());
        EXPECT_EQ(counter.at("value"), counter.at("metric") == 1 ? kRead : kOccupancy);
    }
    EXPECT_EQ(counted, launched);
    const std::string before = read_file(values);
    fs::remove(values);
    EXPECT_EQ(shell("env -u ATTNSCOPE_CUPTI " + program() + " collect --evaluate run").code, 0)
        << "with the libcupti that the process had";
    EXPECT_EQ(read_file(values), before);
}

TEST_F(Pipeline, TwoRunsInOneFolder) {
    const Outcome r = run("--counters core --timing separate -- " + storm(3));
    EXPECT_EQ(r.code, 21) << r.error;
    ASSERT_EQ(files(false).size(), 2u);
    std::set<std::string> collections;
    for (const fs::path& file : files(false))
        collections.insert(lines(file, "process")[0].value("collection", "activity"));
    EXPECT_EQ(collections, (std::set<std::string>{"activity", "counters"}));
    EXPECT_EQ(files(true).size(), 1u);
    EXPECT_EQ(shell(program() + " report run").code, 0);
}

TEST_F(Pipeline, WithoutAFixtureNothingIsMeasuredAndTheRunIsGood) {
    const Outcome r = run("--counters core -- " + storm(2), false);
    EXPECT_EQ(r.code, 21);
    EXPECT_TRUE(holds(r.error, "not measured: virtual GPU")) << r.error;
    ASSERT_EQ(files(false).size(), 1u);
    EXPECT_EQ(lines(files(false)[0], "kernel").size(), 16u);
    bool said = false;
    for (const auto& d : lines(files(false)[0], "diagnostic"))
        said = said || d.at("code") == "counters-virtual";
    EXPECT_TRUE(said);
    for (const fs::path& file : files(true))
        EXPECT_TRUE(lines(file, "counter").empty()) << "no value is invented";
}

TEST_F(Pipeline, RanksAreOneRun) {
    std::ofstream(folder / "ranks.sh")
        << "for r in 0 1 2 3; do RANK=$r " << storm(2) << " & done; wait; exit 5\n";
    const Outcome r = run("--counters core -- sh ranks.sh");
    EXPECT_EQ(r.code, 5);
    std::set<int> ranks;
    for (const fs::path& file : files(false)) ranks.insert(lines(file, "process")[0].at("rank").get<int>());
    EXPECT_EQ(ranks, (std::set<int>{0, 1, 2, 3}));
    ASSERT_EQ(files(true).size(), 4u) << r.error;
    for (const fs::path& file : files(true)) EXPECT_EQ(lines(file, "end")[0].at("images"), 16) << file;
}

TEST_F(Pipeline, AProgramWhoseLauncherWasKilledEndsByItself) {
    std::ofstream(folder / "program.sh") << "kill -KILL $PPID; " << storm(2) << "; echo $? >code\n";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(shell("ATTNSCOPE_CONFIG_WAIT_MS=3000 ATTNSCOPE_VGPU_COUNTERS=fixture.json " + program() +
                    " collect --device virtual:A100-SXM4-80GB -o run --counters core -- sh program.sh")
                  .code,
              137);
    for (int i = 0; i < 600 && !fs::exists(folder / "code"); ++i) usleep(50000);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    EXPECT_EQ(read_file(folder / "code"), "21\n");
    ASSERT_EQ(files(false).size(), 1u);
    EXPECT_EQ(lines(files(false)[0], "kernel").size(), 16u);
}

TEST_F(Pipeline, AttentionCountsAndTimesAndPrintsOnce) {
    if (!fs::exists(build() + "/bin/attention_workload")) GTEST_SKIP() << "the workload is not built";
    const std::string small =
        " --batch 1 --heads 2 --seq 128 --only sdpa_flash,naive --device virtual:A100-SXM4-80GB";
    const Outcome r = shell("ATTNSCOPE_VGPU_COUNTERS=fixture.json " + program() +
                            " attention -o out --counters core" + small);
    EXPECT_EQ(r.code, 0) << r.error;
    EXPECT_EQ(run_json("out/run").at("collections"), nlohmann::json::array({"counters", "activity"}))
        << "separate is the default";
    EXPECT_TRUE(fs::exists(folder / "out/report.html"));
    const Outcome plain = shell(program() + " attention -o plain" + small);
    EXPECT_EQ(plain.code, 0) << plain.error;
    EXPECT_FALSE(run_json("plain/run").contains("counters")) << "none on a virtual GPU by itself";
    // What the workload prints comes first, up to an empty line.
    EXPECT_EQ(r.out.substr(0, r.out.find("\n\n")), plain.out.substr(0, plain.out.find("\n\n"))) << "once";
    EXPECT_TRUE(holds(plain.out.substr(0, plain.out.find("\n\n")), "sdpa_flash")) << plain.out;
}

}  // namespace
}  // namespace attnscope::test
