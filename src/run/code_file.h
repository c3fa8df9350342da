#pragma once
// code/kernels.jsonl: the instructions of the run's kernels, as the launcher found them in the files that the
// program had loaded (schema/README.md, "Code").
#include <filesystem>

#include "attnscope/run.h"

namespace attnscope::run_reader {

/// Fills Process::code and code_absent. A damaged file costs the mixes that it damaged, and leaves a
/// diagnostic: no count and no time depends on them.
void read_code(const std::filesystem::path& file, Run& run);

}  // namespace attnscope::run_reader
