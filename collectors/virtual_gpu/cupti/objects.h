#pragma once
// Contexts and streams by handle and by CUPTI's id, followed from the core's events: CUPTI's sync callbacks
// carry handles where the core says ids, and clients that attach late ask for what already exists.
#include <cuda.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace attnscope::vgpu::cupti {

struct StreamObject {
    CUstream handle = nullptr;
    uint32_t id = 0;
    CUcontext context = nullptr;
    uint32_t context_id = 0;
};

struct ContextObject {
    CUcontext handle = nullptr;
    uint32_t id = 0;
};

void add_context(const ContextObject& context);
void remove_context(CUcontext handle);
void add_stream(const StreamObject& stream);
void remove_stream(CUstream handle);

std::vector<ContextObject> contexts();
std::vector<StreamObject> streams();

std::optional<uint32_t> context_id(CUcontext handle);
CUcontext context_handle(uint32_t id);
/// `handle` may be nullptr, CU_STREAM_LEGACY or CU_STREAM_PER_THREAD: then `context`'s, the current context's
/// for nullptr. Nothing for an unknown stream or one of another context.
std::optional<uint32_t> stream_id(CUcontext context, CUstream handle, bool per_thread);
CUstream stream_handle(uint32_t context_id, uint32_t id);
/// The device ordinal of a context, of the current one for nullptr.
std::optional<uint32_t> device_of(CUcontext handle);

/// Of the calling thread.
CUcontext current_context();
/// Whether a stream of this context is being captured.
bool capturing(CUcontext context);

/// A function of libcuda's stand-in, where that is loaded. Call it under Silence.
void* driver_function(const char* name);
template <class Function>
Function* driver(const char* name) {
    return reinterpret_cast<Function*>(driver_function(name));
}

}  // namespace attnscope::vgpu::cupti
