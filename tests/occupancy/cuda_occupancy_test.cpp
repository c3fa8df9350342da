// Our calculator against NVIDIA's cuda_occupancy.h, on every GPU of the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ask_nvidia.h"
#include "attnscope/gpu.h"

namespace attnscope {
namespace {

void compare(const Gpu& gpu, const SmLimits& sm, const KernelShape& kernel, size_t& refused) {
    cudaOccError error = CUDA_OCC_SUCCESS;
    const cudaOccResult theirs = test::ask_nvidia(sm, kernel, error);
    ASSERT_EQ(error, CUDA_OCC_SUCCESS);
    const Occupancy ours = theoretical_occupancy(sm, kernel);
    const auto has = [&](Limiter l) {
        return std::find(ours.limiters.begin(), ours.limiters.end(), l) != ours.limiters.end();
    };
    const auto factor = [&](unsigned bit) { return (theirs.limitingFactors & bit) != 0; };
    const std::string where = gpu.id + ": " + std::to_string(kernel.registers) + " registers, " +
                              std::to_string(kernel.threads) + " threads, " +
                              std::to_string(kernel.static_shared_bytes) + "+" +
                              std::to_string(kernel.dynamic_shared_bytes) + " bytes";
    ASSERT_EQ(static_cast<int>(ours.ctas_per_sm), theirs.activeBlocksPerMultiprocessor) << where;
    ASSERT_EQ(static_cast<int>(ours.ctas_by_registers), theirs.blockLimitRegs) << where;
    ASSERT_EQ(static_cast<int>(ours.ctas_by_shared_memory), theirs.blockLimitSharedMem) << where;
    ASSERT_EQ(static_cast<int>(ours.ctas_by_warps), theirs.blockLimitWarps) << where;
    ASSERT_EQ(static_cast<int>(ours.ctas_by_ctas), theirs.blockLimitBlocks) << where;
    ASSERT_EQ(has(Limiter::registers), factor(OCC_LIMIT_REGISTERS)) << where;
    ASSERT_EQ(has(Limiter::shared_memory), factor(OCC_LIMIT_SHARED_MEMORY)) << where;
    ASSERT_EQ(has(Limiter::warps), factor(OCC_LIMIT_WARPS)) << where;
    ASSERT_EQ(has(Limiter::ctas), factor(OCC_LIMIT_BLOCKS)) << where;
    ASSERT_EQ(ours.launchable, theirs.activeBlocksPerMultiprocessor > 0) << where;
    refused += ours.launchable ? 0 : 1;
}

class EveryGpu : public testing::TestWithParam<std::string> {};

// 11 GPUs x 30,000 random shapes and about 9,000 on the edges: more than 400,000 inputs.
TEST_P(EveryGpu, AgreesWithCudaOccupancyH) {
    const Gpu& gpu = *find_gpu(GetParam());
    const SmLimits sm = sm_limits(gpu);
    std::mt19937 random(20260101);
    const auto between = [&](uint32_t low, uint32_t high) {
        return std::uniform_int_distribution<uint32_t>(low, high)(random);
    };
    size_t refused = 0, inputs = 0;
    for (; inputs < 30000 && !HasFatalFailure(); ++inputs) {
        KernelShape kernel{between(0, 256), between(1, 1100), 0, 0};
        if (between(0, 1) == 0) kernel.threads = 32 * between(1, 32);
        if (between(0, 2) == 0) kernel.static_shared_bytes = between(0, 49152);
        kernel.dynamic_shared_bytes =
            between(0, 1) == 0 ? between(0, 16384) : between(0, sm.shared_bytes_per_cta_optin + 2048);
        compare(gpu, sm, kernel, refused);
    }
    const uint32_t optin = sm.shared_bytes_per_cta_optin;
    for (const uint32_t registers :
         {0U, 1U, 8U, 16U, 24U, 32U, 40U, 63U, 64U, 65U, 96U, 127U, 128U, 129U, 168U, 240U, 254U, 255U, 256U})
        for (const uint32_t threads :
             {1U, 31U, 32U, 33U, 64U, 96U, 128U, 160U, 256U, 288U, 384U, 512U, 768U, 1000U, 1024U, 1025U})
            for (const uint32_t shared : {0U,
                                          1U,
                                          127U,
                                          128U,
                                          129U,
                                          1024U,
                                          8192U,
                                          16384U,
                                          18944U,
                                          32768U,
                                          47104U,
                                          48128U,
                                          49151U,
                                          49152U,
                                          49153U,
                                          50176U,
                                          65536U,
                                          76288U,
                                          98304U,
                                          optin - 129,
                                          optin - 128,
                                          optin - 1,
                                          optin,
                                          optin + 1,
                                          optin + 1024,
                                          sm.shared_bytes,
                                          sm.shared_bytes + 1}) {
                if (HasFatalFailure()) return;
                compare(gpu, sm, {registers, threads, 0, shared}, refused);
                ++inputs;
            }
    RecordProperty("inputs", static_cast<int>(inputs));
    EXPECT_GT(refused, 0U) << "the sweep reaches shapes that do not launch";
    EXPECT_GT(inputs, 38000U);
}

std::vector<std::string> ids() {
    std::vector<std::string> all;
    for (const Gpu& gpu : gpus()) all.push_back(gpu.id);
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, EveryGpu, testing::ValuesIn(ids()), [](const auto& gpu) {
    std::string name = gpu.param;
    std::erase(name, '-');
    return name;
});

}  // namespace
}  // namespace attnscope
