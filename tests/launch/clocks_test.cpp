// The sampling of clocks, with an NVML of the tests. Right values: what programs/fake_nvml.cpp answers, and
// NVML's own header for what its numbers mean.
#include "clocks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "lines.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Clocks : testing::Test {
    fs::path folder;
    void SetUp() override {
        folder = fs::temp_directory_path() / ("attnscope-clocks-" + std::to_string(getpid()));
        fs::create_directories(folder);
    }
    void TearDown() override {
        unsetenv("ATTNSCOPE_FAKE_NVML");
        fs::remove_all(folder);
    }
    static std::string fake() {
        return std::string(std::getenv("ATTNSCOPE_BINARY_DIR")) + "/tests/launch/nvml/libnvidia-ml.so.1";
    }
    std::vector<Diagnostic> sample(const char* mode, std::chrono::milliseconds time) const {
        setenv("ATTNSCOPE_FAKE_NVML", mode, 1);
        ClockSampler sampler(folder / "clocks.jsonl", fake());
        std::this_thread::sleep_for(time);
        return sampler.stop();
    }
    std::vector<nlohmann::json> lines() const {
        return test::parse_lines(test::read_file(folder / "clocks.jsonl"));
    }
};

TEST_F(Clocks, AChangeIsALine) {
    EXPECT_TRUE(sample("", 900ms).empty());
    const auto all = lines();
    ASSERT_GE(all.size(), 3u) << "the clock falls by 1 MHz at each reading, and there is one each 200 ms";
    EXPECT_LE(all.size(), 6u);
    const auto& line = all[0];
    EXPECT_EQ(line.at("type"), "clock");
    EXPECT_EQ(line.at("device"), 0);
    EXPECT_EQ(line.at("uuid"), "GPU-5e1f0000-0000-0000-0000-000000000001");
    EXPECT_EQ(line.at("name"), "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(line.at("memory_mhz"), 2619);
    EXPECT_EQ(line.at("sm_max_mhz"), 1980);
    EXPECT_EQ(line.at("memory_max_mhz"), 2619);
    EXPECT_EQ(line.at("throttle_reasons"), 4) << "by the older name, which is all that this NVML has";
    EXPECT_EQ(line.at("temperature_c"), 61);
    EXPECT_EQ(line.at("power_mw"), 698123);
    EXPECT_GT(line.at("time_unix_ns"), int64_t{1'700'000'000'000'000'000});
    for (size_t i = 1; i < all.size(); ++i)
        EXPECT_EQ(all[i].at("sm_mhz").get<int>(), all[i - 1].at("sm_mhz").get<int>() - 1);
}

TEST_F(Clocks, WhatStaysIsWrittenOnce) {
    EXPECT_TRUE(sample("steady", 900ms).empty());
    EXPECT_EQ(lines().size(), 1u);
}

TEST_F(Clocks, WhatNvmlDoesNotAnswerIsLeftOut) {
    sample("nothing", 50ms);
    const auto all = lines();
    ASSERT_GE(all.size(), 1u);
    for (const char* absent : {"uuid", "name", "memory_mhz", "throttle_reasons", "temperature_c", "power_mw"})
        EXPECT_FALSE(all[0].contains(absent)) << absent;
    EXPECT_TRUE(all[0].contains("sm_mhz"));
}

TEST_F(Clocks, AProgramThatEndsAtOnceHasASample) {
    EXPECT_TRUE(sample("", 0ms).empty());
    EXPECT_GE(lines().size(), 1u);
}

TEST_F(Clocks, AnNvmlThatHangsIsLeftBehind) {
    for (const char* mode : {"hang", "hang-init"}) {
        const auto start = std::chrono::steady_clock::now();
        const auto diagnostics = sample(mode, 700ms);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 5s) << mode;
        ASSERT_EQ(diagnostics.size(), 1u) << mode;
        EXPECT_EQ(diagnostics[0].code, "clocks-unknown");
        EXPECT_NE(diagnostics[0].message.find("does not answer"), std::string::npos);
    }
}

TEST_F(Clocks, WithoutNvmlNothingIsWritten) {
    ClockSampler none(folder / "none.jsonl", "");
    EXPECT_TRUE(none.stop().empty());
    ClockSampler missing(folder / "none.jsonl", "libattnscope-no-such-nvml.so.1");
    const auto diagnostics = missing.stop();
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_EQ(diagnostics[0].code, "clocks-unknown");
    EXPECT_EQ(diagnostics[0].level, DiagnosticLevel::info);
    EXPECT_FALSE(fs::exists(folder / "none.jsonl"));
}

TEST_F(Clocks, AFolderThatIsGoneIsSaid) {
    ClockSampler sampler(folder / "gone" / "clocks.jsonl", fake());
    std::this_thread::sleep_for(50ms);
    const auto diagnostics = sampler.stop();
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_NE(diagnostics[0].message.find("could not be written"), std::string::npos)
        << diagnostics[0].message;
}

}  // namespace
}  // namespace attnscope::launch
