#pragma once
#include <cstddef>

namespace attnscope::vgpu::cupti {

/// Whether all of it is mapped and readable: a client's mistake shall be told, not crash.
bool readable(const void* address, size_t bytes);

}  // namespace attnscope::vgpu::cupti
