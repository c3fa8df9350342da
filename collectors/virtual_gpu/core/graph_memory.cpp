#include "collectors/virtual_gpu/core/graph_memory.h"

#include <map>
#include <mutex>

#include "collectors/virtual_gpu/core/pool.h"

namespace attnscope::vgpu {

namespace {
struct Registry {
    std::mutex mutex;
    std::map<CUdeviceptr, GraphMemory*> all;
    std::atomic<size_t> count{0};
};
Registry& registry() {
    static auto* r = new Registry();
    return *r;
}
}  // namespace

CUresult make_graph_memory(Pool& pool, Context& context, size_t bytes, std::shared_ptr<GraphMemory>& memory) {
    auto made = std::make_shared<GraphMemory>();
    if (CUresult error = allocate_from_pool(pool, context, bytes, made->pointer); error != CUDA_SUCCESS)
        return error;
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    r.all[made->pointer] = made.get();
    r.count = r.all.size();
    memory = std::move(made);
    return CUDA_SUCCESS;
}

GraphMemory::~GraphMemory() {
    if (pointer == 0) return;
    {
        Registry& r = registry();
        std::lock_guard lock(r.mutex);
        r.all.erase(pointer);
        r.count = r.all.size();
    }
    // What the last launch allocated outlives its graph: the program frees it as it frees any other memory.
    if (!allocated) free_to_pool(pointer);
}

GraphFree free_graph_memory(CUdeviceptr pointer) {
    Registry& r = registry();
    if (r.count.load(std::memory_order_relaxed) == 0) return GraphFree::not_a_graphs;
    std::lock_guard lock(r.mutex);
    const auto found = r.all.find(pointer);
    if (found == r.all.end()) return GraphFree::not_a_graphs;
    return found->second->allocated.exchange(false) ? GraphFree::freed : GraphFree::not_allocated;
}

}  // namespace attnscope::vgpu
