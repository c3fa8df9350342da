#pragma once
// The counter values of one process (`<stem>.counters.jsonl`, schema/README.md) into its Process.
#include <filesystem>

#include "attnscope/run.h"

namespace attnscope::run_reader {

/// Values reach a launch or a range only where the record names exactly one; what does not is counted in a
/// diagnostic. Throws Error when the file cannot be opened or is of a newer major version.
void read_counters(const std::filesystem::path& file, Process& process);

}  // namespace attnscope::run_reader
