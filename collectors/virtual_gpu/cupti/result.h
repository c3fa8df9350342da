#pragma once
#include <cupti_result.h>

namespace attnscope::vgpu::cupti {

/// Remembers an error for cuptiGetLastError and returns it.
CUptiResult answer(CUptiResult result);

/// CUPTI's structs say their size, so that a newer library knows an older client: the whole of what this one
/// knows is needed.
template <class Params>
bool complete(const Params* params, size_t struct_size) {
    return params && params->structSize >= struct_size;
}

}  // namespace attnscope::vgpu::cupti
