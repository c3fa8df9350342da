#pragma once
#include <cstddef>

#include "collectors/virtual_gpu/core/entry.h"

namespace attnscope::vgpu {

extern const EntryPoint entry_points[];
extern const size_t entry_point_count;

}  // namespace attnscope::vgpu
