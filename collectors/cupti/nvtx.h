#pragma once
#include <nvtx3/nvToolsExt.h>

#include <string>

namespace attnscope::collector {

/// Fills one NVTX instance's function tables with ours. Each library that uses NVTX has its own instance.
/// Returns 1.
int attach_nvtx(NvtxGetExportTableFunc_t get_export_table);

}  // namespace attnscope::collector
