// A full disk, a folder that is gone, a launcher that is killed: the program ends by itself, with its own
// exit code.
#include <chrono>

#include "harness.h"

namespace attnscope::test {
namespace {

struct Trouble : LauncherTest {
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

TEST_F(Trouble, TheFolderIsRemovedMeanwhile) {
    for (const std::string counters : {"", "--counters core "}) {
        const Outcome r = collect("-o run " + counters + "-- sh -c 'rm -rf \"$ATTNSCOPE_RUN_DIR\"; exit 7'");
        EXPECT_EQ(r.code, 7) << r.error;
        EXPECT_TRUE(holds(r.error, "was removed while the program ran")) << r.error;
        EXPECT_FALSE(fs::exists(folder / "run"));
    }
}

TEST_F(Trouble, TheDiskIsFull) {
    // A disk of 64 KiB, in a mount namespace of its own.
    if (std::system("unshare -rm mount -t tmpfs -o size=64k none /mnt 2>/dev/null") != 0)
        GTEST_SKIP() << "no mount namespace here";
    std::ofstream(folder / "fill.sh") << "cat /dev/zero > \"$ATTNSCOPE_RUN_DIR\"/fill 2>/dev/null\n"
                                      << asking() << " GH100 130001 " << libcupti() << " none\nexit 7\n";
    const Outcome r =
        shell("unshare -rm sh -c 'mount -t tmpfs -o size=64k none /mnt; timeout 100 " + program() +
              " collect --device virtual:H100-SXM5 -o /mnt/run --counters core -- sh fill.sh'");
    EXPECT_EQ(r.code, 7) << r.out << r.error;
    EXPECT_TRUE(holds(r.error, "No space left on device")) << r.error;
}

TEST_F(Trouble, TheLauncherIsKilled) {
    std::ofstream(folder / "program.sh") << "echo $$ >pid; kill -KILL $PPID; sleep 0.3; echo alive >after\n";
    EXPECT_EQ(collect("-o run --counters core -- sh program.sh").code, 137);
    for (int i = 0; i < 100 && !fs::exists(folder / "after"); ++i) usleep(50000);
    EXPECT_TRUE(fs::exists(folder / "after")) << "the program goes on";
    EXPECT_FALSE(fs::exists(folder / "run/counters/closed"));
    const auto run = run_json();
    EXPECT_FALSE(run.contains("ended"));
    EXPECT_EQ(run.at("collections"), nlohmann::json::array({"counters"}));
}

TEST_F(Trouble, AProgramThatIsNotStartedLeavesNothing) {
    std::ofstream(folder / "damaged") << "#!/no/such/interpreter\n";
    fs::permissions(folder / "damaged", fs::perms::owner_all);
    const std::string nvml = "ATTNSCOPE_NVML=" + build() + "/tests/launch/nvml/libnvidia-ml.so.1";
    EXPECT_EQ(collect("-o a/run --counters core -- ./damaged", nvml).code, 125);
    EXPECT_FALSE(fs::exists(folder / "a")) << "half written";
}

TEST_F(Trouble, ClocksThatHangAreNoHang) {
    const std::string nvml =
        "ATTNSCOPE_NVML=" + build() + "/tests/launch/nvml/libnvidia-ml.so.1 ATTNSCOPE_FAKE_NVML=";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(collect("-o run -- sh -c 'exit 7'", nvml + "hang-init").code, 7);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_EQ(diagnostics("clocks-unknown").size(), 1u);
    EXPECT_EQ(collect("-o run --force -- sh -c 'sleep 0.5; exit 7'", nvml).code, 7);
    EXPECT_TRUE(diagnostics("clocks-unknown").empty());
    EXPECT_GE(parse_lines(read_file(folder / "run/clocks.jsonl")).size(), 2u);
}

}  // namespace
}  // namespace attnscope::test
