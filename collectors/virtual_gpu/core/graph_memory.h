#pragma once
// Memory that a graph allocates: its address is fixed when the node is made, and each launch allocates it
// anew. Here the memory itself stays for as long as a graph could launch; whether the program has freed it is
// remembered.
#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>

namespace attnscope::vgpu {

struct Context;
struct Pool;

struct GraphMemory {
    CUdeviceptr pointer = 0;
    std::atomic<bool> allocated{false};  ///< by a launch, and not freed since
    ~GraphMemory();
};

CUresult make_graph_memory(Pool& pool, Context& context, size_t bytes, std::shared_ptr<GraphMemory>& memory);
enum class GraphFree { not_a_graphs, freed, not_allocated };
/// A free outside of a graph, or by a graph's node.
GraphFree free_graph_memory(CUdeviceptr pointer);

}  // namespace attnscope::vgpu
