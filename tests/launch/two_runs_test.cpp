// --timing separate: the program runs for counters, then undisturbed. Right values: DESIGN.md, law 8, and
// include/attnscope/launch.h on when it is not started again.
#include <chrono>
#include <thread>

#include "harness.h"

namespace attnscope::test {
namespace {

struct TwoRuns : LauncherTest {
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
    /// A program that used CUDA, as far as the launcher can tell, and then does the rest.
    void script(const std::string& rest) const {
        std::ofstream(folder / "program.sh") << "echo run ${ATTNSCOPE_COUNTERS-without}\n"
                                             << "echo '{}' > \"$ATTNSCOPE_RUN_DIR\"/h-$$-1.jsonl\n"
                                             << rest << '\n';
    }
    Outcome twice(const std::string& more = "") const {
        return collect("-o run --counters core --timing separate " + more + " -- sh program.sh");
    }
    size_t runs() const { return run_json().at("collections").size(); }
};

TEST_F(TwoRuns, FirstForCountersThenUndisturbed) {
    script("");
    const Outcome r = twice();
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.out, "run kernel\nrun without\n");
    EXPECT_EQ(run_json().at("collections"), nlohmann::json::array({"counters", "activity"}));
    EXPECT_TRUE(holds(r.error, "the program runs twice")) << r.error;
    EXPECT_TRUE(holds(r.error, "second run: undisturbed")) << r.error;
    EXPECT_EQ(process_files(folder / "run").size(), 2u);
}

TEST_F(TwoRuns, SameIsOneRun) {
    script("");
    const Outcome r = collect("-o run --counters core --timing same -- sh program.sh");
    EXPECT_EQ(r.out, "run kernel\n");
    EXPECT_EQ(runs(), 1u);
}

TEST_F(TwoRuns, TheFirstThatFailedGivesTheExitCode) {
    script("test -n \"$ATTNSCOPE_COUNTERS\" && exit 9; exit 0");
    EXPECT_EQ(twice().code, 9);
    EXPECT_EQ(run_json().at("exit_code"), 9);
    EXPECT_EQ(runs(), 2u) << "what fails under counters may run undisturbed";
    script("test -n \"$ATTNSCOPE_COUNTERS\" && exit 0; exit 8");
    EXPECT_EQ(twice("--force").code, 8);
    script("test -n \"$ATTNSCOPE_COUNTERS\" && kill -SEGV $$; exit 8");
    EXPECT_EQ(twice("--force").code, 139);
    EXPECT_EQ(run_json().at("signal"), 11);
    EXPECT_EQ(runs(), 2u);
}

TEST_F(TwoRuns, AKilledProgramIsNotStartedAgain) {
    for (const std::string signal : {"KILL", "INT", "TERM"}) {
        script("kill -" + signal + " $$; sleep 5");
        const Outcome r = twice("--force");
        EXPECT_GT(r.code, 128) << signal;
        EXPECT_EQ(runs(), 1u) << signal;
        EXPECT_TRUE(holds(r.error, "not run a second time")) << r.error;
    }
}

TEST_F(TwoRuns, AnInterruptedLauncherDoesNotStartItAgain) {
    // The program catches the signal and ends with a code of its own, as Python does.
    script("trap 'exit 130' INT; touch ready; while :; do sleep 0.05; done");
    std::thread sender([&] {
        for (int i = 0; i < 400 && !fs::exists(folder / "ready"); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
        (void)!std::system(("kill -INT $(cat " + (folder / "pid").string() + ")").c_str());
    });
    const Outcome r = shell(
        "sh -c 'echo $$ > pid; exec " + program() +
        " collect --device virtual:H100-SXM5 --counters core --timing separate -o run -- sh program.sh'");
    sender.join();
    EXPECT_EQ(r.code, 130);
    EXPECT_EQ(runs(), 1u);
}

TEST_F(TwoRuns, AProgramWithoutCudaRunsOnce) {
    std::ofstream(folder / "program.sh") << "echo run; exit 3\n";
    const Outcome r = twice();
    EXPECT_EQ(r.code, 3);
    EXPECT_EQ(r.out, "run\n");
    EXPECT_TRUE(holds(r.error, "never initialised CUDA")) << r.error;
}

TEST_F(TwoRuns, AProgramThatIsGoneForTheSecondRunKeepsTheFirst) {
    script("rm ./program; exit 0");
    fs::rename(folder / "program.sh", folder / "program");
    fs::permissions(folder / "program", fs::perms::owner_all);
    const Outcome r = collect("-o run --counters core --timing separate -- ./program");
    EXPECT_EQ(r.code, 125) << r.error;
    EXPECT_EQ(r.out, "run kernel\n");
    EXPECT_EQ(run_json().at("exit_code"), 125);
    EXPECT_EQ(process_files(folder / "run").size(), 1u);
}

TEST_F(TwoRuns, WhileTheSecondRunIsOnTheRunHasNotEnded) {
    script("test -n \"$ATTNSCOPE_COUNTERS\" || cp \"$ATTNSCOPE_RUN_DIR\"/run.json during.json");
    EXPECT_EQ(twice().code, 0);
    const auto during = nlohmann::json::parse(read_file(folder / "during.json"));
    EXPECT_FALSE(during.contains("ended"));
    EXPECT_EQ(during.at("collections"), nlohmann::json::array({"counters", "activity"}));
    EXPECT_TRUE(run_json().contains("ended"));
}

TEST_F(TwoRuns, BothReadTheSameInputFile) {
    script("cat");
    std::ofstream(folder / "input") << "the data\n";
    const Outcome r = shell(program() +
                            " collect --device virtual:H100-SXM5 -o run --counters core --timing separate -- "
                            "sh program.sh <input");
    EXPECT_EQ(r.out, "run kernel\nthe data\nrun without\nthe data\n");
}

}  // namespace
}  // namespace attnscope::test
