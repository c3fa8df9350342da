// What is different on a real GPU, with a driver of the tests in its place. Right values:
// include/attnscope/launch.h and the GPU table (H100 and compute capability 9.0 are GH100).
#include "harness.h"

namespace attnscope::test {
namespace {

struct RealGround : LauncherTest {
    void SetUp() override {
        LauncherTest::SetUp();
        if (!IsSkipped() && libcupti().empty())
            GTEST_SKIP() << "no libcupti with its host side on this machine";
        if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this machine has an NVIDIA driver";
        setenv("ATTNSCOPE_CUPTI", libcupti().c_str(), 1);
    }
    void TearDown() override {
        unsetenv("ATTNSCOPE_CUPTI");
        LauncherTest::TearDown();
    }
    Outcome real(const std::string& arguments, const std::string& variables = "") const {
        return shell("LD_LIBRARY_PATH=" + build() + "/tests/launch/driver ATTNSCOPE_NVML=" + build() +
                     "/tests/launch/nvml/libnvidia-ml.so.1 " + variables + ' ' + program() +
                     " collect --device real -o run --force " + arguments);
    }
};

TEST_F(RealGround, TheChipIsPlannedBeforeTheStart) {
    const Outcome r = real("--counters core -- " + asking() + " GH100 130001 " + libcupti() + " empty");
    EXPECT_EQ(r.code, 0) << r.error;
    EXPECT_TRUE(holds(r.out, "config whole")) << r.out;
    EXPECT_TRUE(holds(r.error, "real GPU NVIDIA H100 80GB HBM3")) << r.error;
    EXPECT_TRUE(holds(r.error, "counters core (GH100: ")) << r.error;
    EXPECT_TRUE(holds(r.error, "not the program's time")) << r.error;
    EXPECT_TRUE(holds(r.error, "--timing separate")) << r.error;
    EXPECT_FALSE(holds(r.error, "not measured")) << r.error;
    EXPECT_EQ(run_json().at("ground"), "real");
    EXPECT_EQ(run_json().at("counters").at("passes"), nlohmann::json({{"GH100", 1}}));
    EXPECT_GE(parse_lines(read_file(folder / "run/clocks.jsonl")).size(), 1u);
}

TEST_F(RealGround, ADeviceThatTheTableDoesNotKnowIsPlannedByItsCapability) {
    const Outcome r = real("--counters core -- true", "ATTNSCOPE_FAKE_DEVICE='NVIDIA GH200 480GB'");
    EXPECT_EQ(r.code, 0) << r.error;
    EXPECT_EQ(run_json().at("counters").at("passes"), nlohmann::json({{"GH100", 1}}));
}

TEST_F(RealGround, WithoutALibcuptiTheProgramRunsWithoutCounters) {
    const Outcome r = real("--counters core -- sh -c 'env | grep ^ATTNSCOPE_COUNTERS; exit 6'",
                           "ATTNSCOPE_CUPTI=" + (folder / "libcupti.so.13").string());
    EXPECT_EQ(r.code, 6) << r.error;
    EXPECT_EQ(r.out, "");
    EXPECT_TRUE(holds(r.error, "counters core are off")) << r.error;
    ASSERT_EQ(diagnostics("counters-no-cupti").size(), 1u);
    EXPECT_EQ(diagnostics("counters-no-cupti")[0].at("severity"), "warning");
}

TEST_F(RealGround, WithoutNvmlThereAreNoClocksAndTheRunSaysSo) {
    const Outcome r = real("-- true", "ATTNSCOPE_NVML=" + (folder / "none.so").string());
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(diagnostics("clocks-unknown").size(), 1u);
    EXPECT_FALSE(fs::exists(folder / "run/clocks.jsonl"));
}

}  // namespace
}  // namespace attnscope::test
