#pragma once
// Launch by launch: did two runs of a program launch the same?
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::run_reader {

struct LaunchMatch {
    /// Kernels and library calls: of the first process, of the second. Empty where `difference` is not.
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    std::string difference;  ///< "kernel 17 of 20: gemm, grid 8 x 8 x 1 in one, softmax ... in the other"
    std::string copies;      ///< how copies and memsets differ; empty when they do not
};

/// Threads may run in another order in a second run, so each thread's launches are held against those of one
/// thread of the other. Kernels of one graph launch are held together in the order in which they ran.
LaunchMatch match_launches(const Process& counters, const Process& activity);

}  // namespace attnscope::run_reader
