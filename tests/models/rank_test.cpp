// A bound orders nothing by itself; a time does, against a time or a bound.
#include <gtest/gtest.h>

#include "attnscope/models.h"

namespace attnscope {
namespace {

const Provenance kModel{Source::model, Ground::real};

RankEntry entry(const std::string& name, std::optional<double> bound, std::optional<double> time = {},
                double spread = 0) {
    RankEntry e;
    e.name = name;
    e.bound = bound ? Value::of(*bound, Unit::nanoseconds, kModel) : Value::missing("no roof");
    e.time = time ? Value::of(*time, Unit::nanoseconds, kModel) : Value::missing("not measured");
    e.spread = Value::of(spread, Unit::nanoseconds, kModel);
    e.time_from = "measured";
    return e;
}

std::vector<std::string> pairs(const Rank& r) {
    std::vector<std::string> out;
    for (const Rank::Faster& f : r.faster) out.push_back(f.first + "<" + f.second);
    return out;
}

TEST(Ranks, BoundsAloneProveNobodyFaster) {
    const Rank r = rank({entry("math", 5e6), entry("flash", 55e3), entry("cudnn", 55.2e3)});
    EXPECT_TRUE(r.faster.empty());
    ASSERT_EQ(r.groups.size(), 2U);
    EXPECT_EQ(r.groups[0].names, (std::vector<std::string>{"flash", "cudnn"})) << "within 1%";
    EXPECT_NE(r.sentence.find("not decidable without measurement"), std::string::npos) << r.sentence;
    EXPECT_NE(r.sentence.find("math cannot be faster than 5.000 ms"), std::string::npos) << r.sentence;
}

TEST(Ranks, ATimeBelowAnothersBoundProves) {
    const Rank r = rank({entry("math", 5e6), entry("flash", 55e3, 147e3), entry("cudnn", 55e3)});
    EXPECT_EQ(pairs(r), (std::vector<std::string>{"flash<math"})) << "cudnn's bound is below that time";
    EXPECT_NE(r.faster[0].why.find("less than the bound of math"), std::string::npos) << r.faster[0].why;
}

TEST(Ranks, ATimeAboveAnothersBoundProvesNothing) {
    EXPECT_TRUE(rank({entry("math", 5e6), entry("flash", 55e3, 6e6)}).faster.empty());
    EXPECT_TRUE(rank({entry("math", 5e6), entry("flash", 55e3, 5e6)}).faster.empty()) << "equal";
}

TEST(Ranks, TimesWithinTheirSpreadsAreNotToldApart) {
    EXPECT_TRUE(rank({entry("a", 1, 100, 3), entry("b", 1, 105, 3)}).faster.empty());
    EXPECT_EQ(pairs(rank({entry("a", 1, 100, 2), entry("b", 1, 105, 2)})), (std::vector<std::string>{"a<b"}));
}

TEST(Ranks, WithoutBoundsSayOnlyThat) {
    const Rank r = rank({entry("a", {}), entry("b", {})});
    EXPECT_TRUE(r.groups.empty());
    EXPECT_TRUE(r.faster.empty());
    EXPECT_EQ(r.sentence, "No bound is known, so nothing can be said before a measurement.");
    EXPECT_EQ(rank({}).sentence, r.sentence);
}

TEST(Ranks, OneAloneHasItsBound) {
    EXPECT_EQ(rank({entry("flash", 55e3)}).sentence, "flash cannot be faster than 0.0550 ms.");
}

TEST(Ranks, BoundsOfZeroDivideNothing) {
    const Rank r = rank({entry("a", 0.0), entry("b", 5e3)});
    EXPECT_EQ(r.sentence.find("inf"), std::string::npos) << r.sentence;
}

}  // namespace
}  // namespace attnscope
