#pragma once
#include <cupti_result.h>

namespace attnscope::vgpu::cupti {

/// Calls a function of the real library, which computes on the host alone; NOT_SUPPORTED with a diagnostic
/// where none is installed.
CUptiResult ask_host(const char* name, void* params);

}  // namespace attnscope::vgpu::cupti
