#include "format.h"

#include <gtest/gtest.h>

#include <limits>

namespace attnscope::reports {
namespace {

std::string text(double value, Unit unit) {
    return format(value, unit).with();
}

// Right values: by hand from the rounding rule in format.h.
TEST(Format, BytesAreKibibytesOnChipAndMegabytesInTraffic) {
    EXPECT_EQ(text(0, Unit::bytes), "0 B");
    EXPECT_EQ(text(1023, Unit::bytes), "1,023 B");
    EXPECT_EQ(text(1088, Unit::bytes), "1.06 KiB");
    EXPECT_EQ(text(49152, Unit::bytes), "48 KiB");
    EXPECT_EQ(text(98304, Unit::bytes), "96 KiB");
    EXPECT_EQ(text(232448, Unit::bytes), "227 KiB");
    EXPECT_EQ(text(1048575, Unit::bytes), "1,024 KiB");
    EXPECT_EQ(text(1048576, Unit::bytes), "1.05 MB");
    EXPECT_EQ(text(268435456, Unit::bytes), "268.4 MB");
    EXPECT_EQ(text(85899345920, Unit::bytes), "85.9 GB");
    EXPECT_EQ(format_exact(268435456, Unit::bytes), "268,435,456 bytes");
    EXPECT_TRUE(format(268435456, Unit::bytes).rounded);
    EXPECT_FALSE(format(49152, Unit::bytes).rounded);
}

TEST(Format, TimesRatesAndWorkScaleByThousands) {
    EXPECT_EQ(text(412, Unit::nanoseconds), "412 ns");
    EXPECT_EQ(text(412345, Unit::nanoseconds), "412.3 µs");
    EXPECT_EQ(text(4120000, Unit::nanoseconds), "4.12 ms");
    EXPECT_EQ(text(999960, Unit::nanoseconds), "1.00 ms");  // never "1,000.0 µs"
    EXPECT_EQ(text(999900, Unit::nanoseconds), "999.9 µs");
    EXPECT_EQ(text(2.039e12, Unit::bytes_per_second), "2.04 TB/s");
    EXPECT_EQ(text(137438953472, Unit::flop), "137.4 GFLOP");
    EXPECT_EQ(text(312e12, Unit::flop_per_second), "312 TFLOP/s");
}

TEST(Format, PercentAndPlainNumbers) {
    EXPECT_EQ(text(12.5, Unit::percent), "12.5 %");
    EXPECT_EQ(text(25, Unit::percent), "25 %");
    EXPECT_EQ(text(100.0 / 6, Unit::percent), "16.7 %");
    EXPECT_EQ(text(0.04, Unit::percent), "0.040 %");
    EXPECT_EQ(text(1000000, Unit::count), "1,000,000");
    EXPECT_EQ(text(-1234567, Unit::count), "-1,234,567");
    EXPECT_EQ(text(1.5, Unit::none), "1.50");
    EXPECT_EQ(text(3.0e-5, Unit::none), "0.000030");
}

TEST(Format, CountedThingsGetTheirWord) {
    EXPECT_EQ(format_with_words(255, Unit::registers), "255 registers");
    EXPECT_EQ(format_with_words(1, Unit::ctas), "1 CTA");
    EXPECT_EQ(format_with_words(8, Unit::warps), "8 warps");
    EXPECT_EQ(format_with_words(20, Unit::count), "20");
}

TEST(Format, AColumnHasOneScale) {
    const Scale megabytes = shared_scale({1778384896, 67633152}, Unit::bytes);
    EXPECT_EQ(format(1778384896, Unit::bytes, megabytes).with(), "1,778 MB");
    EXPECT_EQ(format(67633152, Unit::bytes, megabytes).with(), "67.6 MB");
    EXPECT_EQ(format(0, Unit::bytes, megabytes).with(), "0 B");
    // What would vanish keeps its own unit.
    EXPECT_EQ(format(32, Unit::bytes, shared_scale({268435456, 32}, Unit::bytes)).with(), "32 B");
    const Scale microseconds = shared_scale({4120000, 412345}, Unit::nanoseconds);
    EXPECT_EQ(format(4120000, Unit::nanoseconds, microseconds).with(), "4,120 µs");
}

TEST(Format, MissingIsNotZero) {
    EXPECT_TRUE(is_shown(Value::of(0, Unit::bytes, {})));
    EXPECT_FALSE(is_shown(Value::missing("needs a GPU")));
    EXPECT_EQ(absent_reason(Value::missing("needs a GPU")), "needs a GPU");
    const Value nan = Value::of(std::numeric_limits<double>::quiet_NaN(), Unit::percent, {});
    EXPECT_FALSE(is_shown(nan));
    EXPECT_EQ(absent_reason(nan), "not a finite number");
    EXPECT_EQ(absent_reason(Value{}), "no reason was given");
}

TEST(Format, HugeAndTinyNumbersStayShort) {
    for (const double value : {1e300, 1e18, 1e-300, -1e300})
        for (const Unit unit : {Unit::none, Unit::bytes, Unit::nanoseconds, Unit::flop_per_second})
            EXPECT_LT(text(value, unit).size(), 430U) << value;
    EXPECT_EQ(text(1e18, Unit::count), "1e+18");
    EXPECT_EQ(text(1.5e-14, Unit::percent), "1.5e-14 %") << "not a row of zeros";
}

}  // namespace
}  // namespace attnscope::reports
