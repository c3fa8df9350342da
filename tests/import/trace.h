#pragma once
// PyTorch profiler traces, written by hand.
#include <string>
#include <vector>

#include "attnscope/import.h"

namespace attnscope::test {

/// A device of `deviceProperties` as PyTorch 2.8 writes one.
std::string h100();

/// {"deviceProperties": [devices], "traceEvents": [events], more}
std::string trace(const std::vector<std::string>& events, const std::string& devices = h100(),
                  const std::string& more = "");

/// An event; `args` without braces.
std::string event(const std::string& category, const std::string& name, const std::string& ts,
                  const std::string& dur, const std::string& args, const std::string& tid = "7",
                  const std::string& pid = "0");

/// A kernel of 128 threads with 168 registers and 81,920 bytes of shared memory: flash attention's figures.
std::string flash_kernel(uint64_t correlation, const std::string& ts = "100.5", const std::string& more = "");

/// Imports bytes as if they were a file of that name.
Run import_bytes(const std::string& bytes, const std::string& name = "trace.json");

/// What import_bytes() refuses with; empty when it does not.
std::string refusal(const std::string& bytes, const std::string& name = "trace.json");

/// The diagnostic of that code in the run or its processes; nullptr.
const Diagnostic* diagnostic(const Run& run, const std::string& code);

}  // namespace attnscope::test
