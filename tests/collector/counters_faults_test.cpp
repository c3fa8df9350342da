// Whatever goes wrong with counters, the program runs to its own end, every launch is recorded, says why it
// has no counters, and no value is shifted to another. Right values: DESIGN.md, laws 4 and 5; what each error
// means: cupti_result.h and ERR_NVGPUCTRPERM.
#include "counters_run.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::of_type;

struct CountersFault : test::CountersRun {
    static std::string fault(const std::string& what) { return "ATTNSCOPE_VGPU_FAULT=" + what; }
    bool says(const std::string& code, const std::string& key, const std::string& text) const {
        return diagnostic(code)[key].get<std::string>().find(text) != std::string::npos;
    }
    /// All six launches are there, none is counted, each says `code`, and it was told.
    void all_uncounted(const std::string& code) const {
        EXPECT_EQ(kernels().size(), 6u) << code;
        EXPECT_EQ(uncounted(code), 6u) << code;
        EXPECT_EQ(check_values(), 0u) << code;
        EXPECT_GE(told(code), 1u) << code;
        EXPECT_EQ(of_type(lines, "end").size(), 1u);
    }
};

TEST_F(CountersFault, NoFixtureIsAVirtualGpu) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", "", false), 21) << error;
    all_uncounted("counters-virtual");
    EXPECT_EQ(diagnostic("counters-virtual")["severity"], "info");
    EXPECT_EQ(data_file(), "");
}

TEST_F(CountersFault, NoPrivilege) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault("privileges")), 21) << error;
    all_uncounted("counters-permission");
    EXPECT_TRUE(says("counters-permission", "message", "ERR_NVGPUCTRPERM"));
    for (const char* way : {"NVreg_RestrictProfilingToAdminUsers=0", "CAP_SYS_ADMIN", "--cap-add=SYS_ADMIN"})
        EXPECT_TRUE(says("counters-permission", "remedy", way)) << way;
}

TEST_F(CountersFault, HardwareBusy) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault("busy")), 21) << error;
    all_uncounted("counters-busy");
    EXPECT_TRUE(says("counters-busy", "remedy", "dcgmi profile --pause"));
}

TEST_F(CountersFault, OutOfMemory) {
    for (const char* call : {"Enable", "SetConfig", "Start"}) {
        ASSERT_EQ(
            collect(program() + "launch=6", "--counters core", fault(std::string("out-of-memory:") + call)),
            21);
        all_uncounted("counters-out-of-memory");
        EXPECT_TRUE(says("counters-out-of-memory", "message", call));
    }
}

TEST_F(CountersFault, AnotherSubscriber) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault("subscriber")), 21) << error;
    EXPECT_EQ(kernels().size(), 0u) << "launches come from callbacks, which another has";
    EXPECT_TRUE(says("counters-subscriber", "message", "CUPTI")) << diagnostic("counters-subscriber");
    EXPECT_EQ(of_type(lines, "end").at(0)["kernels"], 0);
}

TEST_F(CountersFault, UnsupportedDevice) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault("unsupported-device")), 21) << error;
    all_uncounted("counters-unsupported-device");
    EXPECT_TRUE(says("counters-unsupported-device", "message", "architecture"));
}

TEST_F(CountersFault, AnyCallAtTheStart) {
    for (const char* function :
         {"cuptiProfilerInitialize", "cuptiProfilerDeviceSupported", "cuptiDeviceGetChipName",
          "cuptiProfilerGetCounterAvailability", "cuptiRangeProfilerEnable",
          "cuptiRangeProfilerGetCounterDataSize", "cuptiRangeProfilerCounterDataImageInitialize",
          "cuptiRangeProfilerSetConfig", "cuptiRangeProfilerStart", "cuptiRangeProfilerStop",
          "cuptiRangeProfilerDecodeData"}) {
        ASSERT_EQ(
            collect(program() + "launch=6", "--counters core", fault(std::string(function) + ":*=UNKNOWN")),
            21)
            << function;
        all_uncounted("counters-failed");
        EXPECT_TRUE(says("counters-failed", "message", function)) << function;
        EXPECT_TRUE(says("counters-failed", "message", "CUPTI_ERROR_UNKNOWN")) << function;
        EXPECT_EQ(told("counters-failed"), 1u) << "the first failure alone is told";
    }
}

TEST_F(CountersFault, SubscribingFails) {
    for (const char* what : {"cuptiSubscribe_v2:*=UNKNOWN", "cuptiEnableCallback:3=UNKNOWN", "no-driver"}) {
        ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault(what)), 21) << what;
        EXPECT_EQ(kernels().size(), 0u);
        EXPECT_EQ(told("counters-failed"), 1u) << what;
    }
}

TEST_F(CountersFault, ACallThatFailsLater) {
    for (const char* function :
         {"cuptiRangeProfilerStart", "cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData",
          "cuptiRangeProfilerCounterDataImageInitialize"}) {
        ASSERT_EQ(
            collect(program() + "launch=6", "--counters core", fault(std::string(function) + ":3=UNKNOWN")),
            21)
            << function;
        EXPECT_EQ(kernels().size(), 6u);
        EXPECT_EQ(check_values(), 2u) << function << ": those before it keep theirs, none moves";
        EXPECT_EQ(uncounted("counters-failed"), 4u);
        EXPECT_EQ(told("counters-failed"), 1u);
    }
}

TEST_F(CountersFault, DisablingFailsWhereAContextEnds) {
    ASSERT_EQ(collect(program() + "context", "--counters core", fault("cuptiRangeProfilerDisable:1=UNKNOWN")),
              21)
        << error;
    EXPECT_EQ(kernels().size(), 10u);
    EXPECT_EQ(told("counters-failed"), 1u);
    check_values();
}

TEST_F(CountersFault, DroppedRanges) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault("drop-ranges:3")), 21) << error;
    EXPECT_EQ(check_values(), 4u);
    EXPECT_EQ(uncounted("counters-dropped"), 2u);
    EXPECT_EQ(told("counters-dropped"), 2u);
    EXPECT_EQ(diagnostic("counters-dropped")["severity"], "data_loss");
}

TEST_F(CountersFault, ARangeTooManyIsNotJoined) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault("extra-range:2")), 21) << error;
    EXPECT_EQ(check_values(), 5u);
    EXPECT_EQ(uncounted("counters-unjoined"), 1u);
    EXPECT_EQ(kernels()[1]["uncounted"], "counters-unjoined");
}

TEST_F(CountersFault, DataThatCannotBeRead) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", fault("undecodable:2")), 21) << error;
    EXPECT_EQ(check_values(), 1u) << "the first failure ends counting";
    EXPECT_EQ(uncounted("counters-undecodable"), 5u);
    EXPECT_EQ(told("counters-undecodable"), 1u);
}

TEST_F(CountersFault, ALaunchThatDoesNotReturn) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core",
                      fault("hang-launch:3") + " ATTNSCOPE_VGPU_HANG_MS=3000 ATTNSCOPE_WATCHDOG_S=1"),
              21)
        << error;
    EXPECT_EQ(kernels().size(), 6u);
    EXPECT_EQ(check_values(), 2u);
    EXPECT_EQ(uncounted("counters-watchdog"), 4u);
    EXPECT_EQ(told("counters-watchdog"), 1u);
}

TEST_F(CountersFault, TheWatchdogsWordIsOnTheDiskWhileTheProgramHangs) {
    // The program is killed by the clock while it hangs.
    collect("timeout -s KILL 3 " + program() + "launch=2", "--counters core",
            fault("hang-launch:2") + " ATTNSCOPE_VGPU_HANG_MS=60000 ATTNSCOPE_WATCHDOG_S=1");
    EXPECT_EQ(told("counters-watchdog"), 1u);
    EXPECT_EQ(kernels().size(), 1u);
    EXPECT_TRUE(of_type(lines, "end").empty());
}

TEST_F(CountersFault, OtherThreadsDoNotWaitForEver) {
    ASSERT_EQ(collect(program() + "threads=4", "--counters core",
                      fault("hang-launch:1") + " ATTNSCOPE_VGPU_HANG_MS=5000"),
              21)
        << error;
    EXPECT_EQ(kernels().size(), 80u);
    EXPECT_GE(uncounted("counters-contended"), 3u);
    EXPECT_EQ(told("counters-contended"), uncounted("counters-contended"));
    check_values();
}

TEST_F(CountersFault, TheLauncherIsGone) {
    ASSERT_EQ(collect("sh -c 'touch $ATTNSCOPE_RUN_DIR/counters/closed; exec " + program() + "launch=6'"), 21)
        << error;
    all_uncounted("counters-launcher-gone");
}

TEST_F(CountersFault, NoConfigImageComesInTime) {
    ASSERT_EQ(collect(program() + "launch=6", "--counters core", "ATTNSCOPE_CONFIG_WAIT_MS=1"), 21) << error;
    all_uncounted("counters-no-config");
}

struct OwnConfig : CountersFault {
    std::string file, ask, content;
    /// A config image of an earlier run, to be changed.
    void SetUp() override {
        CountersFault::SetUp();
        if (IsSkipped()) return;
        ASSERT_EQ(collect(program() + "launch=1"), 21) << error;
        for (const auto& entry : fs::directory_iterator(run() / "counters"))
            if (entry.path().extension() == ".config") file = entry.path().filename();
        ASSERT_NE(file, "");
        ask = fs::path(file).replace_extension(".ask");
        for (const char* extension : {".ask", ".availability"})
            if (const fs::path asked = fs::path(ask).replace_extension(extension);
                fs::exists(run() / "counters" / asked))
                fs::copy_file(run() / "counters" / asked, folder / asked);
        content = test::read_file(run() / "counters" / file);
    }
    /// The ask says which libcupti is to evaluate what was counted with it.
    std::string with_it(const std::string& what, bool with_ask = true) const {
        std::ofstream(folder / file, std::ios::binary) << content;
        return "sh -c 'cp " + (folder / file).string() +
               (with_ask ? ' ' + (folder / fs::path(ask).stem()).string() + ".a*" : "") +
               " $ATTNSCOPE_RUN_DIR/counters/; exec " + program() + what + "'";
    }
};

TEST_F(OwnConfig, ADamagedOneIsNotUsed) {
    content.back() = static_cast<char>(content.back() ^ 1);
    ASSERT_EQ(collect(with_it("launch=6")), 21) << error;
    all_uncounted("counters-no-config");
    EXPECT_TRUE(says("counters-no-config", "message", "checksum"));
}

TEST_F(OwnConfig, AnotherCuptiDoesNotEvaluateTheVirtualGpus) {
    const char* real = std::getenv("ATTNSCOPE_REAL_CUPTI");
    if (real == nullptr || !fs::exists(real)) GTEST_SKIP() << "no libcupti of NVIDIA's is there";
    ASSERT_EQ(collect(with_it("launch=6", false), "--counters core", std::string("ATTNSCOPE_CUPTI=") + real),
              21)
        << error;
    for (const json& line : of_type(values, "counter")) EXPECT_FALSE(line.contains("value")) << line;
    EXPECT_TRUE(of_type(values, "end").at(0)["counters"].get<int>() > 0);
    bool told = false;
    for (const json& line : of_type(values, "diagnostic"))
        told = told || line["message"].get<std::string>().find("the virtual GPU's") != std::string::npos;
    EXPECT_TRUE(told);
}

TEST_F(OwnConfig, SeveralPassesOnlyWhereReplayIsAllowed) {
    content[offsetof(ConfigHeader, passes)] = 3;
    ASSERT_EQ(collect(with_it("launch=6")), 21) << error;
    all_uncounted("counters-failed");
    EXPECT_TRUE(says("counters-failed", "message", "3 passes"));
    EXPECT_TRUE(says("counters-failed", "remedy", "--replay"));
    ASSERT_EQ(collect(with_it("launch=6 collective"), "--counters core --replay kernel"), 21) << error;
    EXPECT_EQ(kernels().size(), 7u);
    EXPECT_EQ(check_values(), 6u);
    EXPECT_EQ(uncounted("counters-collective"), 1u)
        << "a collective would wait for its others at each replay";
    ASSERT_EQ(collect(with_it("ranges"), "--counters core --range implementation"), 21) << error;
    EXPECT_TRUE(says("counters-failed", "message", "3 passes"));
    EXPECT_TRUE(says("counters-failed", "remedy", "--range kernel"));
}

TEST_F(CountersFault, AFullDisk) {
    // Files end at 64 blocks of 512 bytes; the signal is ignored, so write() says so instead.
    ASSERT_EQ(collect("sh -c 'trap \"\" XFSZ; ulimit -f 64; exec " + program() + "launch=40'"), 21) << error;
    EXPECT_EQ(kernels().size(), 40u);
    EXPECT_EQ(told("counters-disk"), 1u);
    const size_t counted = check_values();
    EXPECT_GT(counted, 2u);
    EXPECT_EQ(uncounted("counters-disk"), 40 - counted);
    bool whole = false;
    test::read_data(data_file(), whole);
    EXPECT_TRUE(whole) << "what was written is left whole";
}

TEST_F(CountersFault, ACuptiWithoutTheRangeProfiler) {
    const std::string fakes = build() + "/tests/collector/fakes";
    if (!fs::exists(fakes + "/libcupti.so.13")) GTEST_SKIP() << "the small CUPTI is not built";
    // In place of the stand-in's.
    ASSERT_EQ(
        collect("sh -c 'LD_PRELOAD=" + fakes +
                "/libcupti.so.13:$(echo $LD_PRELOAD | tr : \"\\n\" | grep -v cupti | paste -sd :) exec " +
                program() + "launch=6'"),
        21)
        << error;
    EXPECT_EQ(kernels().size(), 0u);
    EXPECT_EQ(told("counters-no-cupti"), 1u);
    EXPECT_TRUE(says("counters-no-cupti", "remedy", "12.6"));
}

}  // namespace
}  // namespace attnscope
