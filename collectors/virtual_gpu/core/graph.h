#pragma once
// Graphs: nodes of work, kept instead of done, and done again at each launch.
#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/copy.h"
#include "collectors/virtual_gpu/core/launch.h"

namespace attnscope::vgpu {

struct Event;
struct Graph;
struct GraphMemory;
struct GraphNode;

struct EmptyNode {};
struct KernelNode {
    Function* function = nullptr;
    CUfunction handle = nullptr;  ///< as the program named it; nullptr: function->handle
    LaunchShape shape;
    std::vector<std::byte> block;  ///< parameters, copied when the node was made
    std::vector<void*> values;     ///< into `block`, for cuGraphKernelNodeGetParams
    std::map<int, CUlaunchAttributeValue> attributes;
};
struct CopyNode {
    CopyRequest copy;
    CUDA_MEMCPY3D parameters{};  ///< for cuGraphMemcpyNodeGetParams
};
struct SetNode {
    SetRequest set;
};
struct HostNode {
    CUhostFn function = nullptr;
    void* user = nullptr;
};
struct EventRecordNode {
    Event* event = nullptr;
};
struct EventWaitNode {
    Event* event = nullptr;
};
struct LibraryNode {
    LibraryCall call;
};
struct ChildNode {
    std::shared_ptr<Graph> graph;
};
/// Memory of a graph: its address is fixed when the node is made, and it lives as long as the node and its
/// copies.
struct AllocationNode {
    std::shared_ptr<GraphMemory> memory;
    CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
};
struct FreeNode {
    CUdeviceptr pointer = 0;
};
using GraphPayload = std::variant<EmptyNode, KernelNode, CopyNode, SetNode, HostNode, EventRecordNode,
                                  EventWaitNode, LibraryNode, ChildNode, AllocationNode, FreeNode>;

struct GraphNode {
    CUgraphNode handle = nullptr;
    uint64_t id = 0;  ///< as CUPTI shows it
    Graph* graph = nullptr;
    GraphPayload payload;
    std::vector<GraphNode*> dependencies;
    const GraphNode* original = nullptr;  ///< in a clone; compared, never followed
};

struct Graph {
    CUgraph handle = nullptr;  ///< nullptr for one inside a node until the program asks for it
    uint32_t id = 0;
    std::vector<std::unique_ptr<GraphNode>> nodes;
    std::vector<std::shared_ptr<void>> user_objects;
    bool embedded = false;  ///< inside a node, which owns it
    ~Graph();
};

/// A node and where it stands in an executable graph.
struct GraphStep {
    GraphPayload payload;
    uint64_t node_id = 0;
    const GraphNode* source = nullptr;  ///< compared, never followed
    bool enabled = true;
};
struct GraphExec {
    CUgraphExec handle = nullptr;
    uint32_t id = 0;
    unsigned long long flags = 0;
    Context* context = nullptr;
    std::vector<GraphStep> steps;  ///< in an order that keeps all dependencies
    std::string shape;             ///< shape_of() the graph that it was made from
    std::vector<std::shared_ptr<void>> user_objects;
};

Graph* create_graph();
/// Adds a node; the graph's mutex is held by the caller.
GraphNode* add_node(Graph& graph, GraphPayload payload, std::vector<GraphNode*> dependencies);
/// A copy with nodes of its own.
std::unique_ptr<Graph> clone_graph(const Graph& graph);
/// The nodes, each after all that it depends on, in the order of their making otherwise; empty when they form
/// a circle.
std::vector<const GraphNode*> sorted_nodes(const Graph& graph);
/// All steps, child graphs unfolded. False when the nodes form a circle.
bool make_steps(const Graph& graph, std::vector<GraphStep>& steps);

/// The nodes' dependencies, child graphs included, as a text that two graphs of the same topology share; with
/// their types on demand.
std::string shape_of(const Graph& graph, bool with_types);
CUgraphNodeType type_of(const GraphPayload& payload);

/// Does one node's work.
void perform(const GraphPayload& payload, const Issue& issue);
/// All of it, in stream order; a capturing stream takes it as a node instead.
CUresult launch_graph(GraphExec& exec, Stream& stream);

}  // namespace attnscope::vgpu
