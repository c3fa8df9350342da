#pragma once
// What belongs to one host thread: its call in progress, its stack of contexts, its capture mode.
#include <cuda.h>

#include <vector>

#include "collectors/virtual_gpu/core/hooks.h"

namespace attnscope::vgpu {

struct Context;

struct ThreadState {
    ApiCall* call = nullptr;
    std::vector<Context*> contexts;  ///< the current one is the last
    bool per_thread_default_stream = false;
    bool runs_host_function = false;  ///< the thread that runs cuLaunchHostFunc's functions
    CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

ThreadState& thread_state();

}  // namespace attnscope::vgpu
