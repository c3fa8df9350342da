#pragma once
// The text form of the GPU table: see the head of gpus.tsv.
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/gpu.h"

namespace attnscope {

extern const std::string_view kEmbeddedGpuTable;

struct TableGpu {
    Gpu gpu;
    std::vector<std::string> aliases;
};

/// `origin` names the table in errors ("gpus.tsv, line 12: ..."). Throws Error.
std::vector<TableGpu> parse_gpu_table(std::string_view text, const std::string& origin);

}  // namespace attnscope
