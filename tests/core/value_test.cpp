#include "attnscope/value.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(Value, MissingIsNotZero) {
    const Value missing = Value::missing("needs a GPU", Unit::nanoseconds);
    EXPECT_FALSE(missing);
    EXPECT_EQ(missing.absent, "needs a GPU");
    const Value zero = Value::of(0, Unit::bytes, {Source::trace, Ground::real});
    EXPECT_TRUE(zero);
    EXPECT_EQ(*zero.number, 0);
}

// DESIGN.md, law 1: the ground propagates through arithmetic, the weakest wins.
TEST(Value, TheWeakestGroundWins) {
    EXPECT_EQ(weaker(Ground::real, Ground::virtual_gpu), Ground::virtual_gpu);
    EXPECT_EQ(weaker(Ground::imported, Ground::real), Ground::imported);
    EXPECT_EQ(weaker(Ground::fixture, Ground::imported), Ground::fixture);
    EXPECT_EQ(weaker(Ground::real, Ground::real), Ground::real);
}

}  // namespace
}  // namespace attnscope
