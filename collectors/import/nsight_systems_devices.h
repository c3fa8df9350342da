#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "attnscope/run.h"
#include "sqlite.h"

namespace attnscope::importer {

/// The GPUs of an export by CUDA's ordinal in the process `pid`, as the export tells it.
std::vector<Device> nsight_systems_devices(const Database& database, std::optional<uint64_t> pid);

}  // namespace attnscope::importer
