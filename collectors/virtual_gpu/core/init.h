#pragma once
// How libcuda's facade hands its exported functions to the core, for cuGetProcAddress.
#include <cstddef>

#include "collectors/virtual_gpu/core/entry.h"

namespace attnscope::vgpu {

/// The table must stay.
ATTNSCOPE_VGPU_EXPORT void set_entry_points(const EntryPoint* entries, size_t count);

}  // namespace attnscope::vgpu
