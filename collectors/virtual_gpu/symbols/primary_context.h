#pragma once

namespace attnscope::vgpu {

/// NVIDIA's libraries lie on the CUDA runtime: creating a handle on a thread without a context makes the
/// primary context of device 0 current. False where there is no usable device.
bool ensure_context();

}  // namespace attnscope::vgpu
