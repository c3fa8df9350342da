#pragma once
// `deviceProperties` (2021: `computeProperties`) and `distributedInfo` of a Kineto trace.
#include <optional>
#include <string_view>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::importer {

/// What the trace gives of each device, no more. 64 readable bytes must follow the text, here and below.
std::vector<Device> kineto_devices(std::string_view array);

std::optional<uint64_t> kineto_rank(std::string_view distributed_info);

}  // namespace attnscope::importer
