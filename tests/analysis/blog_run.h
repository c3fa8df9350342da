#pragma once
// The shape of Hugging Face's "Profiling in PyTorch (part 3): attention" on an A100: bf16, B8 H16 S1024 D64,
// causal, forward. Kernel names and resources from libtorch_cuda.so of torch 2.11.0 (cuobjdump -arch sm_80
// -res-usage), the order of the launches from the same library run on a virtual GPU, their numbers from the
// published profile: 6, 5, 20, 1, 1, 1.
#include <cstdint>
#include <string>

#include "run_writer.h"

namespace attnscope::test {

struct BlogOptions {
    std::string ground = "virtual";
    int iterations = 2;
    bool times = false;  ///< durations, as on a real GPU (the published ones where there are some)
    bool without_inplace = false;
    bool refuse_flash = false;  ///< as with an explicit mask
    uint32_t batch = 8;
    bool with_workload = true;
    double efficient_difference = 0.004;  ///< real ground: max_abs_difference to math
};

inline constexpr double kScoreBytes = 268435456;  ///< 8 x 16 x 1024 x 1024 x 2

std::string blog_process(const BlogOptions& options = {});
/// Writes run.json and one process's file.
void write_blog_run(const std::filesystem::path& folder, const BlogOptions& options = {});

}  // namespace attnscope::test
