#include "collectors/virtual_gpu/cupti/objects.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/threads.h"

namespace attnscope::vgpu::cupti {
namespace {

struct Tables {
    std::mutex mutex;
    std::map<CUcontext, ContextObject> contexts;
    std::map<CUstream, StreamObject> streams;
};
Tables& tables = *new Tables;

/// Runs `body` with `context` current.
template <class Body>
void with_context(CUcontext context, Body body) {
    const Silence silence;
    auto* push = driver<decltype(cuCtxPushCurrent_v2)>("cuCtxPushCurrent_v2");
    auto* pop = driver<decltype(cuCtxPopCurrent_v2)>("cuCtxPopCurrent_v2");
    if (!push || !pop || push(context) != CUDA_SUCCESS) return;
    body();
    CUcontext popped = nullptr;
    pop(&popped);
}

}  // namespace

void* driver_function(const char* name) {
    static void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, name) : nullptr;
}

void add_context(const ContextObject& context) {
    const std::lock_guard lock(tables.mutex);
    tables.contexts[context.handle] = context;
}
void remove_context(CUcontext handle) {
    const std::lock_guard lock(tables.mutex);
    tables.contexts.erase(handle);
    std::erase_if(tables.streams, [&](const auto& entry) { return entry.second.context == handle; });
}
void add_stream(const StreamObject& stream) {
    const std::lock_guard lock(tables.mutex);
    tables.streams[stream.handle] = stream;
}
void remove_stream(CUstream handle) {
    const std::lock_guard lock(tables.mutex);
    tables.streams.erase(handle);
}

std::vector<ContextObject> contexts() {
    const std::lock_guard lock(tables.mutex);
    std::vector<ContextObject> all;
    for (const auto& [handle, context] : tables.contexts) all.push_back(context);
    return all;
}
std::vector<StreamObject> streams() {
    const std::lock_guard lock(tables.mutex);
    std::vector<StreamObject> all;
    for (const auto& [handle, stream] : tables.streams) all.push_back(stream);
    return all;
}

std::optional<uint32_t> context_id(CUcontext handle) {
    const std::lock_guard lock(tables.mutex);
    const auto found = tables.contexts.find(handle);
    if (found == tables.contexts.end()) return std::nullopt;
    return found->second.id;
}

CUcontext context_handle(uint32_t id) {
    const std::lock_guard lock(tables.mutex);
    for (const auto& [handle, context] : tables.contexts)
        if (context.id == id) return handle;
    return nullptr;
}

std::optional<uint32_t> stream_id(CUcontext context, CUstream handle, bool per_thread) {
    {
        const std::lock_guard lock(tables.mutex);
        if (const auto found = tables.streams.find(handle); found != tables.streams.end()) {
            if (context && found->second.context != context) return std::nullopt;
            return found->second.id;
        }
    }
    if (!handle && per_thread) handle = CU_STREAM_PER_THREAD;
    std::optional<uint32_t> id;
    const auto ask = [&] {
        const Silence silence;
        unsigned long long value = 0;
        auto* get = driver<decltype(cuStreamGetId)>("cuStreamGetId");
        if (get && get(handle, &value) == CUDA_SUCCESS) id = static_cast<uint32_t>(value);
    };
    if (context)
        with_context(context, ask);
    else
        ask();
    return id;
}

CUstream stream_handle(uint32_t context, uint32_t id) {
    const std::lock_guard lock(tables.mutex);
    for (const auto& [handle, stream] : tables.streams)
        if (stream.id == id && stream.context_id == context) return handle;
    return nullptr;  // the default stream has no handle
}

CUcontext current_context() {
    const Silence silence;
    CUcontext current = nullptr;
    auto* get = driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
    return get && get(&current) == CUDA_SUCCESS ? current : nullptr;
}

bool capturing(CUcontext context) {
    const Silence silence;
    auto* ask = driver<decltype(cuStreamIsCapturing)>("cuStreamIsCapturing");
    const auto all = streams();
    return ask && std::any_of(all.begin(), all.end(), [&](const StreamObject& stream) {
               CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
               return stream.context == context && ask(stream.handle, &status) == CUDA_SUCCESS &&
                      status != CU_STREAM_CAPTURE_STATUS_NONE;
           });
}

std::optional<uint32_t> device_of(CUcontext handle) {
    if (!handle) return static_cast<uint32_t>(current_device());
    if (!context_id(handle)) return std::nullopt;
    std::optional<uint32_t> ordinal;
    with_context(handle, [&] {
        CUdevice device = 0;
        auto* get = driver<decltype(cuCtxGetDevice)>("cuCtxGetDevice");
        if (get && get(&device) == CUDA_SUCCESS) ordinal = static_cast<uint32_t>(device);
    });
    return ordinal;
}

}  // namespace attnscope::vgpu::cupti
