#pragma once
// What a process launched and where that can come from, without its launches: enough to look its kernels up.
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace attnscope::run_reader {

struct LaunchedKernels {
    std::vector<std::string> files;  ///< its executable and the libraries that it names, absolute paths
    std::set<std::string> kernels;   ///< mangled names
    std::set<std::pair<uint32_t, uint32_t>> capabilities;  ///< of its devices: major, minor
};

/// Of a process's file. What cannot be read is left out: the run's reader says what is wrong with it.
LaunchedKernels read_launched_kernels(const std::filesystem::path& file);

}  // namespace attnscope::run_reader
