#pragma once
// clocks.jsonl: what NVML said about the GPUs' clocks while the program ran.
#include <filesystem>

#include "attnscope/run.h"

namespace attnscope::run_reader {

/// A damaged file costs its samples and leaves a diagnostic: no other number depends on them.
void read_clocks(const std::filesystem::path& file, Run& run);

}  // namespace attnscope::run_reader
