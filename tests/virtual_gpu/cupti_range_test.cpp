// The Range Profiler of libcupti's stand-in, driven as a client drives it. The rules: cupti_range_profiler.h,
// cupti_profiler_target.h, cupti_profiler_host.h of CUPTI 13.0. Values: the fixture that the test wrote.
#include "cupti_range_client.h"

#include <cmath>

namespace {

using namespace range_client;

TEST(CuptiRange, AutoRangeWithARealConfigImage) {
    in_child(with_fixture(), [] {
        const CUcontext context = primary_context(0);
        ASSERT_NE(nullptr, context);
        Host host;
        if (!host.object) GTEST_SKIP() << "NVIDIA's libcupti.so.13 is not installed";
        Profiler profiler;
        profiler.config = host.config();
        profiler.ready(context);
        ASSERT_EQ(CUPTI_SUCCESS, profiler.start());
        launch(context, {"_Z5flashv"});
        launch(context, {"_Z5otherv"});
        launch(context, {"neither"});
        ASSERT_EQ(CUPTI_SUCCESS, profiler.stop());
        EXPECT_TRUE(profiler.all_passes);
        ASSERT_EQ(CUPTI_SUCCESS, profiler.decode());
        EXPECT_EQ(0u, profiler.dropped);
        ASSERT_EQ(3, profiler.total());
        EXPECT_EQ("0", profiler.name(0));
        EXPECT_EQ("2", profiler.name(2));
        // In another order than configured.
        std::vector<double> values;
        ASSERT_EQ(CUPTI_SUCCESS,
                  host.evaluate(profiler.image, 0,
                                {"dram__bytes_read.sum", "sm__warps_active.avg.pct_of_peak_sustained_active"},
                                values));
        EXPECT_EQ((std::vector<double>{1000, 12.5}), values);
        ASSERT_EQ(CUPTI_SUCCESS, host.evaluate(profiler.image, 1, metric_names(), values));
        EXPECT_TRUE(std::isnan(values[0])) << "the fixture has nothing";
        EXPECT_EQ(7, values[1]);
        ASSERT_EQ(CUPTI_SUCCESS, host.evaluate(profiler.image, 2, metric_names(), values));
        EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1])) << "no entry matches";
        EXPECT_EQ(CUPTI_SUCCESS, profiler.disable());
    });
}

}  // namespace
