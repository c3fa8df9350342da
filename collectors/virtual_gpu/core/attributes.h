#pragma once
// CU_DEVICE_ATTRIBUTE_* of a virtual device.
#include "collectors/virtual_gpu/core/device.h"

namespace attnscope::vgpu {

/// As device_attribute, for the driver's own use: a missing figure is 0 and nobody is told.
int silent_attribute(VirtualDevice& device, int attribute);

/// "max_threads_per_block" for CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK; nullptr for an unknown number.
const char* attribute_key(int attribute);

}  // namespace attnscope::vgpu
