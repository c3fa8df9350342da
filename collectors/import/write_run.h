#pragma once
#include <filesystem>

#include "attnscope/run.h"

namespace attnscope::importer {

inline constexpr const char* kVersion = "1.1";  ///< of the schema that is written

/// Into a folder that exists. Throws Error.
void write_run(const Run& run, const std::filesystem::path& folder);

}  // namespace attnscope::importer
