// What the Range Profiler's data say once they are decoded: the fixture's values by name, in the asked order,
// in any process; and damage is an error, never a crash or a value. Values: the fixture that the test wrote.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "cupti_range_client.h"

namespace {

using namespace range_client;

constexpr auto success = CUPTI_SUCCESS;
constexpr const char* warps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* bytes_read = "dram__bytes_read.sum";

#define HOST_OR_SKIP(host) \
    Host host;             \
    if (!host.object) GTEST_SKIP() << "NVIDIA's libcupti.so.13 is not installed"

/// Kernels: flash, another, one that no entry of the fixture matches.
void measure(Profiler& profiler, Host& host) {
    const CUcontext context = primary_context(0);
    profiler.config = host.config();
    profiler.ready(context);
    ASSERT_EQ(success, profiler.start());
    launch(context, {"_Z5flashv"});
    launch(context, {"_Z5otherv"});
    launch(context, {"neither"});
    ASSERT_EQ(success, profiler.stop());
    ASSERT_EQ(success, profiler.decode());
    ASSERT_EQ(3, profiler.total());
}

TEST(CuptiRangeImage, ValuesByNameInTheAskedOrder) {
    in_child(with_fixture(), [] {
        HOST_OR_SKIP(host);
        Profiler profiler;
        measure(profiler, host);
        std::vector<double> values;
        ASSERT_EQ(success, host.evaluate(profiler.image, 0, {warps, bytes_read}, values));
        EXPECT_EQ((std::vector<double>{12.5, 1000}), values);
        ASSERT_EQ(success, host.evaluate(profiler.image, 0, {bytes_read, warps}, values));
        EXPECT_EQ((std::vector<double>{1000, 12.5}), values);
        ASSERT_EQ(success, host.evaluate(profiler.image, 0, {bytes_read}, values));
        EXPECT_EQ(1000, values[0]);
        ASSERT_EQ(success, host.evaluate(profiler.image, 1, {warps, bytes_read}, values));
        EXPECT_TRUE(std::isnan(values[0])) << "the fixture has nothing";
        EXPECT_EQ(7, values[1]);
        ASSERT_EQ(success, host.evaluate(profiler.image, 2, {warps, bytes_read}, values));
        EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1])) << "no entry matches";
        // A name that the chip has but nobody collected.
        ASSERT_EQ(success, host.evaluate(profiler.image, 0, {"lts__t_sectors.sum"}, values));
        EXPECT_TRUE(std::isnan(values[0]));
    });
}

// The real library: error 17 for an unknown name, and nothing is written.
TEST(CuptiRangeImage, ErrorsLeaveTheValuesAlone) {
    in_child(with_fixture(), [] {
        HOST_OR_SKIP(host);
        Profiler profiler;
        measure(profiler, host);
        std::vector<double> values(2, -1);
        const std::vector<double> untouched = values;
        EXPECT_EQ(CUPTI_ERROR_INVALID_METRIC_NAME,
                  host.evaluate(profiler.image, 0, {bytes_read, "no__such.sum"}, values));
        EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER,
                  host.evaluate(profiler.image, 3, {bytes_read, warps}, values));
        EXPECT_EQ(untouched, values);
        const std::vector<uint8_t> zeros(4096);
        EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, host.evaluate(zeros, 0, {bytes_read, warps}, values))
            << "the real library's answer";
        EXPECT_EQ(untouched, values);
    });
}

TEST(CuptiRangeImage, RangeNames) {
    in_child(with_fixture(), [] {
        HOST_OR_SKIP(host);
        Profiler profiler;
        measure(profiler, host);
        RANGE_PARAMS(Profiler_Host_GetRangeName, params);
        params.pCounterDataImage = profiler.image.data();
        params.counterDataImageSize = profiler.image.size();
        params.rangeIndex = 2;
        params.delimiter = "/";
        ASSERT_EQ(success, cuptiProfilerHostGetRangeName(&params));
        EXPECT_STREQ("2", params.pRangeName);
        std::free(const_cast<char*>(params.pRangeName));  // the client's
        params.rangeIndex = 3;
        EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiProfilerHostGetRangeName(&params));
    });
}

TEST(CuptiRangeImage, UserRangesHaveTheFixturesRanges) {
    in_child(with_fixture(), [] {
        HOST_OR_SKIP(host);
        Profiler profiler;
        profiler.config = host.config();
        profiler.ready(primary_context(0), true);
        ASSERT_EQ(success, profiler.start());
        for (const char* name : {"step", "other"}) {
            ASSERT_EQ(success, profiler.push(name));
            ASSERT_EQ(success, profiler.pop());
        }
        ASSERT_EQ(success, profiler.stop());
        EXPECT_TRUE(profiler.all_passes) << "these metrics need one pass";
        ASSERT_EQ(success, profiler.decode());
        std::vector<double> values;
        ASSERT_EQ(success, host.evaluate(profiler.image, 0, {bytes_read}, values));
        EXPECT_EQ(5, values[0]);
        ASSERT_EQ(success, host.evaluate(profiler.image, 1, {bytes_read}, values));
        EXPECT_TRUE(std::isnan(values[0]));
    });
}

// facts/cupti-without-a-gpu.md: these need two passes on GH100. A user range is run once for each.
TEST(CuptiRangeImage, TwoPassesAreTwoSessions) {
    in_child(with_fixture(), [] {
        HOST_OR_SKIP(host);
        Profiler profiler;
        std::vector<const char*> many = metric_names();
        for (const char* more :
             {"dram__bytes_write.sum", "sm__inst_executed_pipe_tensor.sum", "sm__cycles_active.avg",
              "gpu__time_duration.sum", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
              "lts__t_sectors.sum", "lts__t_sectors_lookup_hit.sum", "sm__cycles_elapsed.avg",
              "sm__inst_executed.sum"})
            many.push_back(more);
        profiler.config = host.config(many);
        profiler.ready(primary_context(0), true);
        std::vector<double> values;
        for (int session = 0; session < 2; ++session) {
            EXPECT_FALSE(profiler.all_passes);
            ASSERT_EQ(success, profiler.start());
            ASSERT_EQ(success, profiler.push("step"));
            ASSERT_EQ(success, profiler.pop());
            ASSERT_EQ(success, profiler.stop());
        }
        EXPECT_TRUE(profiler.all_passes);
        ASSERT_EQ(success, profiler.decode());
        ASSERT_EQ(1, profiler.total());
        ASSERT_EQ(success, host.evaluate(profiler.image, 0, {bytes_read}, values));
        EXPECT_EQ(5, values[0]);
        // After the first pass alone there is no value.
        ASSERT_EQ(success, profiler.initialise());
        ASSERT_EQ(success, profiler.start());
        ASSERT_EQ(success, profiler.push("step"));
        ASSERT_EQ(success, profiler.pop());
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        ASSERT_EQ(success, host.evaluate(profiler.image, 0, {bytes_read}, values));
        EXPECT_TRUE(std::isnan(values[0]));
    });
}

TEST(CuptiRangeImage, EvaluatesWithNoDeviceAndNoFixture) {
    const std::string file = testing::TempDir() + "cupti_range_" + std::to_string(getpid()) + ".image";
    in_child(with_fixture(), [&] {
        HOST_OR_SKIP(host);
        Profiler profiler;
        measure(profiler, host);
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(profiler.image.data()),
                   static_cast<long>(profiler.image.size()));
    });
    in_child({}, [&] {
        unsetenv("ATTNSCOPE_VIRTUAL_DEVICES");
        HOST_OR_SKIP(host);
        std::ifstream in(file, std::ios::binary);
        const std::vector<uint8_t> image{std::istreambuf_iterator<char>(in),
                                         std::istreambuf_iterator<char>()};
        std::vector<double> values;
        ASSERT_EQ(success, host.evaluate(image, 0, {bytes_read, warps}, values));
        EXPECT_EQ((std::vector<double>{1000, 12.5}), values);
        Profiler reader;
        reader.image = image;
        EXPECT_EQ(3, reader.total());
        // Who evaluates asks what the values are worth.
        auto* ground = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "attnscopeVgpuCounterGround"));
        ASSERT_NE(nullptr, ground);
        EXPECT_STREQ("fixture", ground());
    });
    std::remove(file.c_str());
}

// Cut at each length, and each byte flipped: an error, and nothing is written.
TEST(CuptiRangeImage, DamageIsAnError) {
    in_child(with_fixture(), [] {
        HOST_OR_SKIP(host);
        Profiler profiler;
        profiler.ranges = profiler.nodes = 2;
        profiler.config = host.config();
        const CUcontext context = primary_context(0);
        profiler.ready(context);
        ASSERT_EQ(success, profiler.start());
        launch(context, {"_Z5flashv"});
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        const std::vector<uint8_t> whole = profiler.image;
        std::vector<double> values(1, -1);
        const auto harmless = [&](const std::vector<uint8_t>& image) {
            Profiler reader;
            reader.image = image;
            return host.evaluate(image, 0, {bytes_read}, values) != success && reader.total() == -1 &&
                   reader.name(0) == "?" && values[0] == -1;
        };
        ASSERT_FALSE(harmless(whole));
        values[0] = -1;
        for (size_t length = 0; length < whole.size(); ++length) {
            // In memory of its own, so that a read beyond it would be seen by a sanitizer.
            ASSERT_TRUE(harmless({whole.begin(), whole.begin() + static_cast<long>(length)})) << length;
        }
        for (size_t at = 0; at < whole.size(); ++at)
            for (const int flip : {0x01, 0x80, 0xFF}) {
                std::vector<uint8_t> image = whole;
                image[at] = static_cast<uint8_t>(image[at] ^ flip);
                ASSERT_TRUE(harmless(image)) << at;
            }
        // More memory than the image needs is no damage.
        std::vector<uint8_t> longer = whole;
        longer.resize(whole.size() + 100);
        EXPECT_EQ(success, host.evaluate(longer, 0, {bytes_read}, values));
        EXPECT_EQ(1000, values[0]);
    });
}

}  // namespace
