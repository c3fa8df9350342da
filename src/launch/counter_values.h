#pragma once
// After the program: raw counter data to values.
#include <filesystem>
#include <string>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::launch {

struct Evaluation {
    size_t files = 0;   ///< processes with raw counter data
    size_t failed = 0;  ///< of them, could not be evaluated: a diagnostic each
    uint64_t images = 0, counters = 0;
    std::vector<Diagnostic> diagnostics;
};

/// Evaluates each `counters/<stem>.data` of the run into `<stem>.counters.jsonl`, with the libcupti that its
/// process had, else with any that is found. Never throws.
Evaluation evaluate_counters(const std::filesystem::path& run, const std::string& tool);

}  // namespace attnscope::launch
