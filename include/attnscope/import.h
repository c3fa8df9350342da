#pragma once
// Other profilers' files become runs: PyTorch profiler (Kineto) traces, Nsight Compute's CSV and reports
// (those through NVIDIA's ncu-report in a Python: ATTNSCOPE_PYTHON), Nsight Systems' SQLite export and `nsys
// stats`. Their ground is `imported`. What such a file gets wrong is not passed on: occupancy is computed
// anew from registers, shared memory, block and device.
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attnscope/run.h"

namespace attnscope {

/// Reads the files as one run; each process of each file is a Process. Run::folder is empty: nothing is
/// written. A folder is no file of a profiler: read_run() reads it. Damage costs what it hits and leaves a
/// data-loss diagnostic with place and amount. Throws Error (one sentence: what the file is, what to do)
/// where a file holds nothing to import.
Run import_files(const std::vector<std::filesystem::path>& files);

/// What a user names: a run's folder, read by read_run(), or a profiler's file, imported in memory.
Run open_run(const std::filesystem::path& path);

/// Writes `run` as a folder that read_run() reads back: run.json, one .jsonl file a process, one
/// .counters.jsonl file for each that has counter values. `folder` appears whole or not at all. Throws Error
/// when it exists and is not an empty folder (`replace`: a run there is replaced), or cannot be written.
void write_imported_run(const Run& run, const std::filesystem::path& folder, bool replace);

/// What can be imported, by id and title, in the order in which files are tried: {"pytorch", "PyTorch
/// profiler (Kineto) trace"}.
std::vector<std::pair<std::string, std::string>> import_formats();

}  // namespace attnscope
