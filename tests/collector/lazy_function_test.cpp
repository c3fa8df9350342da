// A function that is not loaded yet (programs/lazy_cuda.cpp answers as cuda.h says): absent, asked again
// later, and a driver without the functions for names (before CUDA 12.3) gives none.
#include <gtest/gtest.h>

#include "function_attributes.h"

extern "C" void lazy_cuda_load();

namespace attnscope::collector {
namespace {

TEST(LazyFunction, IsAskedAgainOnceItIsLoaded) {
    int function = 0;
    const FunctionFacts before = facts_of(nullptr, &function, 0);
    EXPECT_FALSE(before.registers || before.static_shared || before.local_per_thread);
    lazy_cuda_load();
    const FunctionFacts after = facts_of(nullptr, &function, 0);
    EXPECT_EQ(after.registers, 77u);
    EXPECT_FALSE(after.static_shared || after.local_per_thread);  // refused: absent, not 0
    EXPECT_EQ(after.name, "");
}

}  // namespace
}  // namespace attnscope::collector
