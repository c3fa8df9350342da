// attnscope gate as a user and a runner call it: exit codes (DESIGN.md, law 8), and files that appear whole
// or not.
#include <gtest/gtest.h>

#include <algorithm>

#include "blog_run.h"
#include "support/command.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using test::Outcome;

class GateCommand : public ::testing::Test {
  protected:
    void SetUp() override { test::write_blog_run(folder_.path() / "run", {}); }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    /// Both streams are in `out`, as on a terminal.
    Outcome gate(const std::string& arguments, const std::map<std::string, std::string>& environment = {}) {
        return test::typed("gate " + arguments + " 2>&1", environment, folder_.path().string());
    }
    void write_baseline() {
        const Outcome o = gate("run --write-baseline b.json --reason first");
        ASSERT_EQ(o.exit_code, 0) << o.out;
        ASSERT_TRUE(fs::exists(path("b.json")));
    }
    void write_worse_run() {
        test::BlogOptions worse;
        worse.refuse_flash = true;
        test::write_blog_run(folder_.path() / "worse", worse);
    }
    test::TemporaryFolder folder_;
};

TEST_F(GateCommand, PassesAgainstItselfAndFailsOnARefusal) {
    write_baseline();
    const Outcome same = gate("run --baseline b.json");
    EXPECT_EQ(same.exit_code, 0) << same.out;
    EXPECT_EQ(same.out.rfind("PASSED: ", 0), 0u);
    write_worse_run();
    const Outcome worse = gate("worse --baseline b.json");
    EXPECT_EQ(worse.exit_code, 1) << worse.out;
    EXPECT_EQ(worse.out.rfind("FAILED: ", 0), 0u);
    EXPECT_NE(worse.out.find("✗ worse  sdpa_flash  status   ran  refused   other  = base"), std::string::npos)
        << worse.out;
    EXPECT_NE(worse.out.find("why: "), std::string::npos) << "LibTorch's own words";
}

TEST_F(GateCommand, UpdatingShowsTheDifferenceAndNeedsAReason) {
    write_baseline();
    write_worse_run();
    const std::string before = test::read_text(path("b.json"));
    EXPECT_EQ(gate("worse --write-baseline b.json").exit_code, 2);
    EXPECT_EQ(test::read_text(path("b.json")), before);
    const Outcome o = gate("worse --write-baseline b.json --reason 'the mask is needed'");
    EXPECT_EQ(o.exit_code, 0) << o.out;
    EXPECT_NE(o.out.find("sdpa_flash status: ran -> refused"), std::string::npos) << o.out;
    EXPECT_NE(test::read_text(path("b.json")).find("the mask is needed"), std::string::npos);
    EXPECT_EQ(gate("worse --baseline b.json").exit_code, 0);
}

TEST_F(GateCommand, BadInputIsExitCode2AndOverwritesNothing) {
    EXPECT_EQ(gate("run").exit_code, 2) << "nothing to gate against";
    EXPECT_EQ(gate("run --baseline b.json").exit_code, 2);
    EXPECT_EQ(gate("absent --write-baseline b.json --reason x").exit_code, 2);
    test::write_text(path("b.json"), "{\"schema\":\"attnscope-baseline\"");
    EXPECT_EQ(gate("run --baseline b.json").exit_code, 2);
    const Outcome corrupt = gate("run --write-baseline b.json --reason x");
    EXPECT_EQ(corrupt.exit_code, 2) << corrupt.out;
    EXPECT_EQ(test::read_text(path("b.json")), "{\"schema\":\"attnscope-baseline\"") << "not ours to replace";
    fs::remove(path("b.json"));
    write_baseline();
    test::write_text(path("gate.toml"), "[[limit]]\nmetric = \"registerz\"\nat_most = 1\n");
    const Outcome misspelt = gate("run --baseline b.json --policy gate.toml --json v.json");
    EXPECT_EQ(misspelt.exit_code, 2);
    EXPECT_NE(misspelt.out.find("gate.toml:2:"), std::string::npos) << misspelt.out;
    EXPECT_NE(misspelt.out.find("'registers'"), std::string::npos);
    EXPECT_EQ(std::count(misspelt.out.begin(), misspelt.out.end(), '\n'), 1) << "one sentence";
    EXPECT_FALSE(fs::exists(path("v.json")));
    EXPECT_EQ(gate("run --baseline b.json --json nowhere/v.json").exit_code, 2);
}

TEST_F(GateCommand, TwoCommandsGoWithoutARunAndOneAloneIsAMistake) {
    for (const char* arguments :
         {"", "--before true", "--after true", "run --before true --after true", "--baseline b.json",
          "--before true --after true --baseline b.json", "--before true --after true --self-test",
          "--before true --after true --write-baseline c.json --reason x",
          "--before true --after true --repeat 0", "--before true --after true --device virtual:H900"}) {
        const Outcome o = gate(arguments);
        EXPECT_EQ(o.exit_code, 2) << arguments << ": " << o.out;
        EXPECT_FALSE(fs::exists(path("attnscope-gate"))) << arguments;
    }
}

TEST_F(GateCommand, WhatCannotBeJudgedIsExitCode3UnlessThePolicySaysOtherwise) {
    write_baseline();
    fs::create_directories(folder_.path() / "empty");
    test::write_text(folder_.path() / "empty" / "run.json",
                     test::read_text(folder_.path() / "run" / "run.json"));
    const Outcome empty = gate("empty --baseline b.json");
    EXPECT_EQ(empty.exit_code, 3) << empty.out;
    EXPECT_NE(empty.out.find("No comparison was made"), std::string::npos);
    EXPECT_EQ(gate("empty --write-baseline c.json --reason x").exit_code, 3);
    EXPECT_FALSE(fs::exists(path("c.json")));
    for (const auto& [word, code] : {std::pair<std::string, int>{"pass", 0}, {"fail", 1}, {"exit-3", 3}}) {
        test::write_text(path("gate.toml"), "cannot_judge = \"" + word + "\"\n");
        EXPECT_EQ(gate("empty --baseline b.json --policy gate.toml").exit_code, code);
    }
    test::write_text(path("gate.toml"),
                     "[[limit]]\nkernel = \"flash_fwd_splitkv*\"\nmetric = \"registers\"\nat_most = 255\n");
    EXPECT_EQ(gate("run --baseline b.json --policy gate.toml").exit_code, 3) << "the limit matches nothing";
}

TEST_F(GateCommand, AbsoluteLimitsNeedNoBaseline) {
    test::write_text(path("gate.toml"),
                     "[[limit]]\nimplementation = \"sdpa_flash\"\nmetric = \"launches\"\nat_most = 1\n"
                     "[[limit]]\nimplementation = \"sdpa_auto\"\nmetric = \"backend\"\nnot = \"math\"\n");
    EXPECT_EQ(gate("run --policy gate.toml").exit_code, 0) << gate("run --policy gate.toml").out;
    test::write_text(path("gate.toml"), "[[limit]]\nmetric = \"launches\"\nat_most = 1\n");
    EXPECT_EQ(gate("run --policy gate.toml").exit_code, 1);
}

TEST_F(GateCommand, EveryPlaceWherePeopleLookIsWritten) {
    write_baseline();
    write_worse_run();
    const Outcome o = gate(
        "worse --baseline b.json --github --id pr --junit j.xml --sarif s.sarif --json v.json --markdown "
        "c.md",
        {{"GITHUB_STEP_SUMMARY", "summary.md"}});
    EXPECT_EQ(o.exit_code, 1);
    EXPECT_NE(o.out.find("::error "), std::string::npos);
    EXPECT_NE(test::read_text(path("j.xml")).find("<testsuites>"), std::string::npos);
    EXPECT_NE(test::read_text(path("s.sarif")).find("\"2.1.0\""), std::string::npos);
    EXPECT_NE(test::read_text(path("v.json")).find("\"exit_code\": 1"), std::string::npos);
    EXPECT_EQ(test::read_text(path("c.md")).rfind("<!-- attnscope:id=pr -->", 0), 0u);
    EXPECT_NE(test::read_text(path("summary.md")).find("❌ failed"), std::string::npos);
    for (const char* format : {"md", "json", "junit", "sarif"})
        EXPECT_EQ(gate(std::string("worse --baseline b.json --format ") + format).exit_code, 1);
}

TEST_F(GateCommand, TheSelfTestProvesThatItCanFail) {
    const Outcome o = gate("run --self-test");
    EXPECT_EQ(o.exit_code, 0) << o.out;
    EXPECT_NE(o.out.find("the gate can fail: "), std::string::npos);
    test::write_text(path("gate.toml"),
                     "[[limit]]\nmetric = \"*\"\nignore = true\n[[limit]]\nkernel = \"*\"\nmetric = "
                     "\"*\"\nignore = true\n");
    EXPECT_NE(gate("run --self-test --policy gate.toml").exit_code, 0) << "a gate that ignores everything";
}

TEST_F(GateCommand, CountersOfARealRunAreKeptAndGated) {
    test::BlogOptions options;
    options.ground = "real";
    options.times = true;
    test::write_counted_blog_run(folder_.path() / "counted", options);
    ASSERT_EQ(gate("counted --write-baseline b.json --reason first").exit_code, 0);
    const Outcome same = gate("counted --baseline b.json");
    EXPECT_EQ(same.exit_code, 0) << same.out;
    EXPECT_NE(same.out.find("ambiguous"), std::string::npos)
        << "one run a side tells no times apart: " << same.out;
    test::BlogCounters idle;
    idle.flash_tensor = 40;  // of 61 %
    test::write_counted_blog_run(folder_.path() / "idle", options, idle);
    const Outcome idler = gate("idle --baseline b.json");
    EXPECT_EQ(idler.exit_code, 1) << idler.out;
    EXPECT_NE(idler.out.find(" tensor_pipe      61 %      40 %  -34.4 %  -5 %\n"), std::string::npos)
        << idler.out;
}

TEST_F(GateCommand, TheSelfTestMeasuresNoiseAndWhatItPrintsIsAPolicy) {
    std::string runs;
    for (int i = 0; i < 5; ++i) {
        test::BlogOptions options;
        options.ground = "real";
        options.times = true;
        test::BlogCounters counters;
        counters.flash_tensor = 61 + 0.3 * i;  // 2 % from the first to the last
        const std::string name = "r" + std::to_string(i);
        test::write_counted_blog_run(folder_.path() / name, options, counters);
        runs += name + " ";
    }
    const Outcome o = gate(runs + "--self-test");
    EXPECT_EQ(o.exit_code, 0) << o.out;
    EXPECT_NE(o.out.find("5 runs differed by 1.9%"), std::string::npos) << o.out;
    const size_t begin = o.out.find("# what the noise"), end = o.out.find("the gate can fail");
    ASSERT_TRUE(begin < end && end != std::string::npos) << o.out;
    test::write_text(path("gate.toml"), o.out.substr(begin, end - begin));
    const Outcome again = gate(runs + "--self-test --policy gate.toml");
    EXPECT_EQ(again.exit_code, 0) << again.out;
    // A bound that is less than the runs differ by themselves.
    test::write_text(
        path("gate.toml"),
        "[[limit]]\nimplementation = \"sdpa_flash\"\nmetric = \"tensor_pipe\"\nnoise = \"1%\"\n");
    const Outcome tight = gate(runs + "--self-test --policy gate.toml");
    EXPECT_EQ(tight.exit_code, 1) << tight.out;
    EXPECT_NE(tight.out.find("\nTHE GATE CRIES WOLF"), std::string::npos) << tight.out;
    EXPECT_NE(tight.out.find("within the noise: sdpa_flash: tensor_pipe differs by 1.9 % among 5 runs"),
              std::string::npos)
        << tight.out;
}

}  // namespace
}  // namespace attnscope
