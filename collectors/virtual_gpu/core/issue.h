#pragma once
// For whom and in whose name an operation is done: a call of the program, or a node of a launched graph.
#include <cstdint>

namespace attnscope::vgpu {

struct Context;
struct Stream;

struct Issue {
    Context* context = nullptr;
    Stream* stream = nullptr;
    uint32_t correlation = 0;
    uint32_t graph_id = 0;  ///< 0: no graph
    uint64_t graph_node_id = 0;
};

}  // namespace attnscope::vgpu
