// Parts of the counters collection by themselves. Right values: the files' format
// (attnscope/counter_files.h), cuda.h's and cupti_driver_cbid.h's own declarations.
#include <cupti.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "config_request.h"
#include "counted_launches.h"
#include "counter_files.h"
#include "counters_mode.h"
#include "driver_call.h"
#include "launch_gate.h"

namespace attnscope::collector {
namespace {

namespace fs = std::filesystem;

TEST(CountersMode, IsWhatTheEnvironmentSays) {
    unsetenv("ATTNSCOPE_COUNTERS");
    EXPECT_FALSE(counters_mode().on());
    setenv("ATTNSCOPE_COUNTERS", "range-nvtx", 1);
    setenv("ATTNSCOPE_WATCHDOG_S", "7", 1);
    setenv("ATTNSCOPE_CONFIG_WAIT_MS", "soon", 1);
    const CountersMode mode = counters_mode();
    EXPECT_EQ(mode.unit, CountedUnit::nvtx);
    EXPECT_TRUE(mode.ranges());
    EXPECT_FALSE(mode.replay);
    EXPECT_EQ(mode.watchdog_s, 7u);
    EXPECT_EQ(mode.config_wait_ms, 30000u) << "no number";
    unsetenv("ATTNSCOPE_COUNTERS");
}

TEST(DriverCall, TheWatchedNumbers) {
    // cupti_driver_cbid.h
    for (const uint32_t cbid : {307u, 442u, 652u, 653u, 477u, 478u, 115u, 116u, 117u})
        EXPECT_EQ(kind_of(cbid), CallKind::kernel) << cbid;
    EXPECT_EQ(kind_of(480), CallKind::multi_device);
    EXPECT_EQ(kind_of(514), CallKind::graph);
    EXPECT_EQ(kind_of(515), CallKind::graph);
    EXPECT_EQ(kind_of(527), CallKind::other) << "cuLaunchHostFunc runs on the host";
    EXPECT_EQ(kind_of(277), CallKind::memcpy);
    EXPECT_EQ(kind_of(421), CallKind::memcpy) << "cuMemcpyHtoDAsync_v2_ptsz";
    EXPECT_EQ(kind_of(218), CallKind::memset);
    EXPECT_EQ(kind_of(5000), CallKind::other);
}

TEST(DriverCall, ReadsAPeerCopyAndABatch) {
    cuMemcpyPeerAsync_params peer{1, nullptr, 2, nullptr, 777, reinterpret_cast<CUstream>(8)};
    CopyCall copy = read_copy(CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, &peer);
    EXPECT_EQ(copy.bytes, 777u);
    EXPECT_STREQ(copy.kind, "PtoP");
    EXPECT_TRUE(copy.asynchronous);
    EXPECT_EQ(stream_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, &peer).handle,
              reinterpret_cast<CUstream>(8));

    size_t sizes[] = {10, 20, 30};
    cuMemcpyBatchAsync_v2_ptsz_params batch{};
    batch.sizes = sizes;
    batch.count = 3;
    copy = read_copy(CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2_ptsz, &batch);
    EXPECT_EQ(copy.bytes, 60u);
    EXPECT_EQ(copy.kind, nullptr) << "the call does not say";
    EXPECT_TRUE(stream_of(CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2_ptsz, &batch).per_thread);

    cuMemsetD2D32Async_ptsz_params set{4096, 64, 0xDEADBEEF, 5, 6, nullptr};
    const MemsetCall written = read_memset(CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async_ptsz, &set);
    EXPECT_EQ(written.bytes, 5u * 6 * 4);
    EXPECT_EQ(written.value, 0xDEADBEEF);
}

TEST(Collective, ByItsName) {
    EXPECT_TRUE(is_collective("_Z29ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgsStorageILm4096EE"));
    EXPECT_TRUE(is_collective("ncclKernel_AllReduce"));
    EXPECT_TRUE(is_collective("myNCCLwrapper"));
    EXPECT_FALSE(is_collective("_Z8count_mePii"));
    EXPECT_FALSE(is_collective(nullptr));
}

TEST(LaunchGate, OneAtATimeAndNotForEver) {
    LaunchGate gate;
    ASSERT_TRUE(gate.enter());
    EXPECT_FALSE(gate.try_enter());
    const uint64_t start = monotonic_ms();
    EXPECT_FALSE(gate.enter(60));
    EXPECT_GE(monotonic_ms() - start, 60u);
    std::thread other([&] { EXPECT_TRUE(gate.enter(5000)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.leave();
    other.join();
    gate.open();
    EXPECT_FALSE(gate.enter(60000)) << "nobody waits at an open gate";
}

TEST(LaunchGate, PreparingDoesNotCountAsWaiting) {
    LaunchGate gate;
    ASSERT_TRUE(gate.enter());
    gate.set_preparing(true);
    std::thread other([&] { EXPECT_TRUE(gate.enter(40)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    gate.set_preparing(false);
    gate.leave();
    other.join();
}

struct ConfigRequest : testing::Test {
    fs::path folder = fs::temp_directory_path() / ("attnscope-config-" + std::to_string(getpid()));
    ConfigQuestion question{folder, "GH100", 130001, "/lib/libcupti.so.13", {1, 2, 3}, 300};
    CuptiFailure failure;
    std::string key = config_key("GH100", 130001, crc32("\1\2\3", 3));

    void SetUp() override { fs::create_directories(folder); }
    void TearDown() override { fs::remove_all(folder); }
    void answer(const std::string& ending, const std::string& content) const {
        std::ofstream(folder / (key + ending), std::ios::binary) << content;
    }
    static std::string config(uint32_t passes = 1) {
        const std::string names("a.sum\0b.avg\0", 12), image = "image";
        ConfigHeader header{};
        std::memcpy(header.magic, kConfigMagic, sizeof header.magic);
        header.cupti_version = 130001;
        header.passes = passes;
        header.metrics = 2;
        header.names_bytes = static_cast<uint32_t>(names.size());
        header.image_bytes = image.size();
        header.names_crc32 = crc32(names.data(), names.size());
        header.image_crc32 = crc32(image.data(), image.size());
        return std::string(reinterpret_cast<const char*>(&header), sizeof header) + names + image;
    }
};

TEST_F(ConfigRequest, AsksAndTakesTheAnswer) {
    question.wait_ms = 10000;
    std::thread launcher([this] {
        while (!fs::exists(folder / (key + ".ask")))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        answer(".config.part", config(3));
        fs::rename(folder / (key + ".config.part"), folder / (key + ".config"));
    });
    const auto made = request_config(question, failure);
    launcher.join();
    ASSERT_NE(made, nullptr) << failure.message;
    EXPECT_EQ(made->key, key);
    EXPECT_EQ(made->passes, 3u);
    ASSERT_EQ(made->metrics.size(), 2u);
    EXPECT_STREQ(made->metrics[1], "b.avg");
    EXPECT_EQ(std::string(made->image.begin(), made->image.end()), "image");
    std::ifstream ask(folder / (key + ".ask"));
    const std::string text{std::istreambuf_iterator<char>(ask), {}};
    EXPECT_EQ(text, "chip GH100\ncupti 130001\nlibrary /lib/libcupti.so.13\navailability " + key +
                        ".availability\n");
    EXPECT_EQ(fs::file_size(folder / (key + ".availability")), 3u);
}

TEST_F(ConfigRequest, ARefusalIsPassedOn) {
    answer(".refused", "counters-metric-absent\nnothing is left to count\nask for others\n");
    EXPECT_EQ(request_config(question, failure), nullptr);
    EXPECT_STREQ(failure.code, "counters-metric-absent");
    EXPECT_EQ(failure.message, "nothing is left to count");
    EXPECT_EQ(failure.remedy, "ask for others");
    answer(".refused", "rm -rf\n");
    EXPECT_EQ(request_config(question, failure), nullptr);
    EXPECT_STREQ(failure.code, "counters-no-config");
    EXPECT_NE(failure.message, "");
}

TEST_F(ConfigRequest, NoAnswer) {
    EXPECT_EQ(request_config(question, failure), nullptr);
    EXPECT_STREQ(failure.code, "counters-no-config");
    std::ofstream(folder / "closed") << "";
    question.wait_ms = 60000;
    EXPECT_EQ(request_config(question, failure), nullptr);
    EXPECT_STREQ(failure.code, "counters-launcher-gone");
    question.folder = (folder / "absent").string();
    EXPECT_EQ(request_config(question, failure), nullptr);
    EXPECT_STREQ(failure.code, "counters-no-config");
}

TEST_F(ConfigRequest, DamagedAnswers) {
    const std::string good = config();
    std::string fault;
    ASSERT_NE(parse_config(good, 130001, fault), nullptr);
    EXPECT_EQ(parse_config(good, 130000, fault), nullptr) << "of another CUPTI";
    for (size_t cut = 0; cut < good.size(); ++cut)
        EXPECT_EQ(parse_config(std::string_view(good).substr(0, cut), 130001, fault), nullptr) << cut;
    for (size_t at = sizeof(ConfigHeader); at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x40);
        EXPECT_EQ(parse_config(bad, 130001, fault), nullptr) << at;
    }
    std::string many = good;
    many[offsetof(ConfigHeader, metrics)] = 3;
    EXPECT_EQ(parse_config(many, 130001, fault), nullptr);
}

}  // namespace
}  // namespace attnscope::collector
