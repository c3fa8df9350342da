#pragma once
// run.json as it is written (schema/README.md).
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::launch {

inline constexpr size_t kRunJsonLimit = 1 << 26;

nlohmann::json to_json(const std::vector<Diagnostic>& diagnostics);

/// Beside, then renamed. Throws fs::filesystem_error.
void write_run_json(const std::filesystem::path& folder, const nlohmann::json& run);

}  // namespace attnscope::launch
