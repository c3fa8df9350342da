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
    std::string collection;               ///< "counters"; empty: activity records
    double efficient_difference = 0.004;  ///< real ground: max_abs_difference to math
    int cudnn_non_finite = 0;             ///< real ground: non_finite_elements
};

inline constexpr double kScoreBytes = 268435456;  ///< 8 x 16 x 1024 x 1024 x 2

std::string blog_process(const BlogOptions& options = {});
/// Counter values for the kernels of such a process, chosen by hand: flash reads 48 MiB and writes 16 MiB at
/// 11.5% achieved occupancy with its tensor pipe busy 61%; products 25%; everything else leaves the tensor
/// pipe idle.
struct BlogCounters {
    double flash_tensor = 61, flash_occupancy = 11.5;
    double fp32_product_tensor = 0;
};
std::string blog_counters(const std::string& process_text, const std::string& file, const std::string& ground,
                          const BlogCounters& values = {});
/// A run with counters and, on a real GPU, with times: two collections.
void write_counted_blog_run(const std::filesystem::path& folder, const BlogOptions& options,
                            const BlogCounters& values = {});
/// Writes run.json and one process's file.
void write_blog_run(const std::filesystem::path& folder, const BlogOptions& options = {});

}  // namespace attnscope::test
