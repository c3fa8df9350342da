#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attnscope/launch.h"

namespace attnscope::launch {

/// The libraries of this installation, checked.
struct Libraries {
    std::string injection;               ///< file
    std::string virtual_folder;          ///< folder of the stand-ins
    std::vector<std::string> stand_ins;  ///< files, in the order in which they are preloaded
};

/// Throws Error (70) when the installation is not whole: the driver skips an unusable injection library
/// without a word.
Libraries find_libraries(const std::string& folder, bool with_virtual);

/// Throws Error when another tool holds the door that the injection library comes in by.
void check_injection_variables(const std::string& injection);

/// The program's environment, "NAME=value" each. `counters` are the variables that switch counters on;
/// without them they are off, whatever was inherited.
std::vector<std::string> program_environment(
    const CollectRequest& request, const GroundChoice& ground, const Libraries& libraries,
    const std::string& run_folder, const std::vector<std::pair<std::string, std::string>>& counters);

}  // namespace attnscope::launch
