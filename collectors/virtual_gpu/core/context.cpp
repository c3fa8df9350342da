#include "collectors/virtual_gpu/core/context.h"

#include <iterator>

#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/core/memory.h"
#include "collectors/virtual_gpu/core/module.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "collectors/virtual_gpu/core/thread.h"

namespace attnscope::vgpu {

namespace {
std::atomic<uint32_t> context_ids{0};
}

Context* current_context_or_null() {
    const auto& stack = thread_state().contexts;
    return !stack.empty() && stack.back() != nullptr && stack.back()->alive.load(std::memory_order_relaxed)
               ? stack.back()
               : nullptr;
}

CUresult current_context(Context*& context) {
    const auto& stack = thread_state().contexts;
    context = stack.empty() ? nullptr : stack.back();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return context->alive.load(std::memory_order_relaxed) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

Context* find_context(CUcontext handle) {
    Context* context = handles<Context>().get(handle);
    return context != nullptr && context->alive.load(std::memory_order_relaxed) ? context : nullptr;
}

void set_current_context(Context* context) {
    auto& stack = thread_state().contexts;
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
}

Context* create_context(VirtualDevice& device, unsigned flags, bool primary) {
    auto* context = new Context();
    context->id = context_ids.fetch_add(1) + 1;
    context->device = &device;
    context->primary = primary;
    context->flags = flags;
    context->handle = static_cast<CUcontext>(handles<Context>().add(context));
    context->legacy_stream = create_stream(*context, CU_STREAM_DEFAULT, 0, StreamKind::legacy);
    if (const Hooks* listener = hooks(); listener != nullptr && listener->resource != nullptr)
        listener->resource(ResourceEvent::context_created, context->handle, context->id, context->handle,
                           context->id);
    return context;
}

void destroy_context(Context& context) {
    bool alive = true;
    if (!context.alive.compare_exchange_strong(alive, false)) return;
    if (const Hooks* listener = hooks(); listener != nullptr && listener->resource != nullptr)
        listener->resource(ResourceEvent::context_destroy_starting, context.handle, context.id,
                           context.handle, context.id);
    std::vector<Module*> modules;
    std::vector<Stream*> streams;
    {
        std::lock_guard lock(context.mutex);
        modules.assign(context.modules.begin(), context.modules.end());
        streams.assign(context.streams.begin(), context.streams.end());
    }
    for (Module* module : modules) unload_module(*module);
    for (Stream* stream : streams) destroy_stream(*stream);
    free_memory_of(context);
    handles<Context>().remove(context.handle);
}

}  // namespace attnscope::vgpu
