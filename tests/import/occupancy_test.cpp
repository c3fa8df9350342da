// The theoretical occupancy that a report shows for real H100 kernels in real traces, against NVIDIA's
// cuda_occupancy.h.
#include <gtest/gtest.h>

#include <set>

#include "attnscope/analysis.h"
#include "attnscope/import.h"
#include "occupancy/ask_nvidia.h"
#include "samples.h"

namespace attnscope::test {
namespace {

/// Written down from the traces' own deviceProperties; what they lack (CTAs on an SM, the reserved kilobyte)
/// from the CUDA C++ Programming Guide's table of compute capability 9.0.
SmLimits h100_sm() {
    SmLimits sm;
    sm.major = 9;
    sm.minor = 0;
    sm.warp_size = 32;
    sm.max_threads = 2048;
    sm.max_ctas = 32;
    sm.registers = 65536;
    sm.registers_per_cta = 65536;
    sm.shared_bytes = 233472;
    sm.shared_bytes_per_cta_optin = 232448;
    sm.shared_bytes_reserved_per_cta = 1024;
    sm.max_threads_per_cta = 1024;
    return sm;
}

TEST(ImportedOccupancy, OfRealH100KernelsIsNvidias) {
    const auto folder = samples();
    if (!folder) GTEST_SKIP() << kNoSamples;
    std::set<std::tuple<double, double, double>> shapes;
    size_t beyond_opt_in = 0;
    for (const char* file : {"kineto/h100-bert-small.json.gz", "kineto/h100-nested-occupancy.json"}) {
        SCOPED_TRACE(file);
        for (const Implementation& implementation : analyze(import_files({*folder / file})).implementations)
            for (const Step& step : implementation.steps) {
                if (!step.is_kernel() || !step.registers) continue;
                SCOPED_TRACE(step.name);
                ASSERT_TRUE(step.occupancy) << step.occupancy.absent;
                cudaOccError error = CUDA_OCC_SUCCESS;
                const auto threads = static_cast<uint32_t>(*step.threads.number);
                const cudaOccResult nvidia =
                    ask_nvidia(h100_sm(),
                               {static_cast<uint32_t>(*step.registers.number), threads, 0,
                                static_cast<uint32_t>(*step.shared.number)},
                               error);
                ASSERT_EQ(error, CUDA_OCC_SUCCESS);
                EXPECT_EQ(step.ctas_per_sm.number, double(nvidia.activeBlocksPerMultiprocessor));
                const double warps = (threads + 31) / 32;
                EXPECT_DOUBLE_EQ(*step.occupancy.number,
                                 100 * nvidia.activeBlocksPerMultiprocessor * warps / 64);
                shapes.insert({*step.registers.number, *step.threads.number, *step.shared.number});
                beyond_opt_in += *step.shared.number > 49152;
            }
    }
    EXPECT_GE(shapes.size(), 5U);
    EXPECT_GE(beyond_opt_in, 1U) << "those that the trace shows as 0%";
}

}  // namespace
}  // namespace attnscope::test
