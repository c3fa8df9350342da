#pragma once
// Contexts, and which one is current on a thread.
#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "collectors/virtual_gpu/core/device.h"
#include "collectors/virtual_gpu/core/handles.h"

namespace attnscope::vgpu {

struct Stream;
struct Module;

/// Never freed: threads may hold one that another destroyed, which `alive` then tells.
struct Context {
    CUcontext handle = nullptr;
    uint32_t id = 0;  ///< as CUPTI counts: from 1
    VirtualDevice* device = nullptr;
    bool primary = false;
    std::atomic<bool> alive{true};
    std::atomic<unsigned> flags{0};
    Stream* legacy_stream = nullptr;

    std::mutex mutex;  ///< guards what follows
    std::set<Stream*> streams;
    std::set<Module*> modules;
    std::set<const Context*> peers;  ///< cuCtxEnablePeerAccess
    std::map<int, size_t> limits;
    unsigned attachments = 1;  ///< cuCtxAttach
};

/// The calling thread's current context when it is alive.
Context* current_context_or_null();
/// The same with the driver's error: CUDA_ERROR_INVALID_CONTEXT, or CUDA_ERROR_CONTEXT_IS_DESTROYED.
CUresult current_context(Context*& context);

/// Makes a context of this device, current nowhere yet.
Context* create_context(VirtualDevice& device, unsigned flags, bool primary);
/// Takes its streams, modules and memory with it.
void destroy_context(Context& context);

/// nullptr when the handle is no living context.
Context* find_context(CUcontext handle);

/// Puts `context` at the top of this thread's stack, in the place of the one that is there.
void set_current_context(Context* context);

}  // namespace attnscope::vgpu
