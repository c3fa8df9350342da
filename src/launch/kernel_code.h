#pragma once
// After the program has ended: which instructions its kernels are made of.
#include <chrono>
#include <filesystem>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::launch {

/// How long the look-up may take: all of libtorch_cuda.so 2.11 for one architecture takes 0.6 s.
inline constexpr std::chrono::seconds kCodeBudget{10};

/// Looks every kernel of the run up in its process's executable and in the libraries that the run names, as a
/// device of each compute capability in the process would load it, and writes code/kernels.jsonl into the run
/// (schema/README.md, "Code"). Within `budget` (a single cubin may exceed it); what was not reached is absent
/// and one diagnostic says so. Never throws. Nothing is written where no kernel was launched.
std::vector<Diagnostic> write_kernel_code(const std::filesystem::path& run,
                                          std::chrono::milliseconds budget = kCodeBudget);

}  // namespace attnscope::launch
