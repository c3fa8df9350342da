#include <gtest/gtest.h>

#include "attnscope/error.h"
#include "attnscope/gpu.h"
#include "attnscope/occupancy.h"

namespace attnscope {
namespace {

using L = Limiter;

struct Case {
    const char* what;
    const char* gpu;
    KernelShape kernel;
    uint32_t ctas;
    double percent;
    std::vector<Limiter> limiters;
};

Occupancy on(const char* gpu, const KernelShape& kernel) {
    const Gpu* found = find_gpu(gpu);
    if (found == nullptr) throw std::runtime_error(gpu);
    return theoretical_occupancy(sm_limits(*found), kernel);
}

// The right values; registers and shared memory from facts/attention.md, 1.6.
TEST(Occupancy, AttentionKernels) {
    const Case cases[] = {
        {"flash hd64", "A100", {255, 128, 0, 49152}, 2, 12.5, {L::registers}},
        {"flash hd64", "H100", {255, 128, 0, 49152}, 2, 12.5, {L::registers}},
        {"flash hd128", "A100", {255, 128, 0, 65536}, 2, 12.5, {L::registers, L::shared_memory}},
        {"flash hd128", "H100", {255, 128, 0, 65536}, 2, 12.5, {L::registers}},
        {"flash hd256", "A100", {254, 256, 0, 131072}, 1, 12.5, {L::registers, L::shared_memory}},
        {"flash hd256", "H100", {255, 128, 0, 98304}, 2, 12.5, {L::registers, L::shared_memory}},
        {"flash hd64", "RTX-4090", {255, 128, 0, 49152}, 2, 16.7, {L::registers, L::shared_memory}},
        {"flash hd256", "RTX-4090", {254, 128, 0, 98304}, 1, 8.3, {L::shared_memory}},
        {"efficient bf16 64x64_rf", "A100", {128, 128, 0, 18944}, 4, 25, {L::registers}},
        {"efficient bf16 64x64_rf", "H100", {128, 128, 0, 18944}, 4, 25, {L::registers}},
        {"cuDNN 240 registers", "A100", {240, 256, 0, 49152}, 1, 12.5, {L::registers}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(std::string(c.what) + " on " + c.gpu);
        const Occupancy result = on(c.gpu, c.kernel);
        EXPECT_TRUE(result.launchable) << result.reason;
        EXPECT_EQ(result.ctas_per_sm, c.ctas);
        EXPECT_NEAR(result.fraction * 100, c.percent, 0.05);
        EXPECT_EQ(result.limiters, c.limiters);
    }
}

TEST(Occupancy, CountsWarpsOfTheDevice) {
    const Occupancy result = on("RTX-4090", {32, 128, 0, 0});
    EXPECT_EQ(result.max_warps_per_sm, 48U);
    EXPECT_EQ(result.warps_per_sm, 48U);
    EXPECT_EQ(result.fraction, 1.0);
    EXPECT_EQ(on("T4", {32, 1024, 0, 0}).max_warps_per_sm, 32U);
}

TEST(Occupancy, SmallCtasRunOutOfSlots) {
    EXPECT_EQ(on("A100", {16, 32, 0, 0}).limiters, std::vector<Limiter>{L::ctas});
    EXPECT_EQ(on("A100", {16, 32, 0, 0}).ctas_per_sm, 32U);
    EXPECT_EQ(on("L4", {16, 32, 0, 0}).ctas_per_sm, 24U);
}

TEST(Occupancy, SaysWhyACtaDoesNotFit) {
    Occupancy result = on("H100", {32, 1025, 0, 0});
    EXPECT_FALSE(result.launchable);
    EXPECT_EQ(result.ctas_per_sm, 0U);
    EXPECT_EQ(result.reason, "1025 threads, but a CTA has at most 1024");
    result = on("H100", {255, 512, 0, 0});
    EXPECT_FALSE(result.launchable);
    EXPECT_NE(result.reason.find("255 registers x 512 threads"), std::string::npos);
    result = on("T4", {32, 128, 0, 65537});
    EXPECT_FALSE(result.launchable);
    EXPECT_EQ(result.reason, "65537 bytes of shared memory, but a CTA has at most 65536");
    result = on("H100", {32, 0, 0, 0});
    EXPECT_FALSE(result.launchable);
    EXPECT_EQ(result.reason, "a CTA needs at least one thread");
    EXPECT_TRUE(on("H100", {32, 128, 0, 232448}).launchable);
    EXPECT_FALSE(on("H100", {32, 128, 1, 232448}).launchable);
    EXPECT_FALSE(on("H100", {32, 128, 0xffffffff, 0xffffffff}).launchable);
    EXPECT_FALSE(on("H100", {0xffffffff, 0xffffffff, 0, 0}).launchable);
}

TEST(Occupancy, NeedsTheTablesRows) {
    Gpu gpu = *find_gpu("H100");
    std::erase_if(gpu.figures, [](const Figure& f) { return f.key == "max_blocks_per_multiprocessor"; });
    EXPECT_THROW(sm_limits(gpu), Error);
}

}  // namespace
}  // namespace attnscope
