#include "collectors/virtual_gpu/core/graph.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/event.h"
#include "collectors/virtual_gpu/core/graph_memory.h"
#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "collectors/virtual_gpu/core/library_call.h"
#include "collectors/virtual_gpu/core/pool.h"
#include "collectors/virtual_gpu/core/stream.h"

namespace attnscope::vgpu {

namespace {
std::atomic<uint32_t> graph_ids{0};
std::atomic<uint64_t> node_ids{0};
}  // namespace

Graph::~Graph() {
    for (const auto& node : nodes) handles<GraphNode>().remove(node->handle);
    if (handle != nullptr) handles<Graph>().remove(handle);
}

Graph* create_graph() {
    auto* graph = new Graph();
    graph->id = graph_ids.fetch_add(1) + 1;
    graph->handle = static_cast<CUgraph>(handles<Graph>().add(graph));
    return graph;
}

GraphNode* add_node(Graph& graph, GraphPayload payload, std::vector<GraphNode*> dependencies) {
    auto node = std::make_unique<GraphNode>();
    node->graph = &graph;
    node->id = node_ids.fetch_add(1) + 1;
    node->payload = std::move(payload);
    node->dependencies = std::move(dependencies);
    node->handle = static_cast<CUgraphNode>(handles<GraphNode>().add(node.get()));
    graph.nodes.push_back(std::move(node));
    return graph.nodes.back().get();
}

std::unique_ptr<Graph> clone_graph(const Graph& graph) {
    auto copy = std::make_unique<Graph>();
    copy->id = graph_ids.fetch_add(1) + 1;
    copy->user_objects = graph.user_objects;
    std::unordered_map<const GraphNode*, GraphNode*> twin;
    for (const auto& node : graph.nodes) {
        GraphPayload payload = node->payload;
        if (auto* child = std::get_if<ChildNode>(&payload)) {
            child->graph = clone_graph(*child->graph);
            child->graph->embedded = true;
        }
        GraphNode* made = add_node(*copy, std::move(payload), {});
        made->original = node.get();
        twin[node.get()] = made;
    }
    for (const auto& node : graph.nodes)
        for (const GraphNode* before : node->dependencies)
            twin[node.get()]->dependencies.push_back(twin.at(before));
    return copy;
}

std::vector<const GraphNode*> sorted_nodes(const Graph& graph) {
    // Of all nodes that are ready, the one that was made first: the order in which a capture saw the work.
    std::unordered_map<const GraphNode*, size_t> missing;
    std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> dependents;
    auto earlier = [](const GraphNode* a, const GraphNode* b) { return a->id < b->id; };
    std::set<const GraphNode*, decltype(earlier)> ready(earlier);
    for (const auto& node : graph.nodes) {
        missing[node.get()] = node->dependencies.size();
        if (node->dependencies.empty()) ready.insert(node.get());
        for (const GraphNode* before : node->dependencies) dependents[before].push_back(node.get());
    }
    std::vector<const GraphNode*> order;
    while (!ready.empty()) {
        const GraphNode* node = *ready.begin();
        ready.erase(ready.begin());
        order.push_back(node);
        for (const GraphNode* after : dependents[node])
            if (--missing[after] == 0) ready.insert(after);
    }
    return order.size() == graph.nodes.size() ? order : std::vector<const GraphNode*>{};
}

bool make_steps(const Graph& graph, std::vector<GraphStep>& steps) {
    const auto order = sorted_nodes(graph);
    if (order.empty() && !graph.nodes.empty()) return false;
    for (const GraphNode* node : order) {
        if (const auto* child = std::get_if<ChildNode>(&node->payload)) {
            if (!make_steps(*child->graph, steps)) return false;
            continue;
        }
        GraphStep step;
        step.payload = node->payload;
        step.node_id = node->id;
        step.source = node;
        steps.push_back(std::move(step));
    }
    return true;
}

CUgraphNodeType type_of(const GraphPayload& payload) {
    struct Visitor {
        CUgraphNodeType operator()(const EmptyNode&) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
        CUgraphNodeType operator()(const KernelNode&) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
        CUgraphNodeType operator()(const CopyNode&) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
        CUgraphNodeType operator()(const SetNode&) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
        CUgraphNodeType operator()(const HostNode&) const { return CU_GRAPH_NODE_TYPE_HOST; }
        CUgraphNodeType operator()(const EventRecordNode&) const { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
        CUgraphNodeType operator()(const EventWaitNode&) const { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
        // Some kernels, which only the real library would choose.
        CUgraphNodeType operator()(const LibraryNode&) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
        CUgraphNodeType operator()(const ChildNode&) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
        CUgraphNodeType operator()(const AllocationNode&) const { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
        CUgraphNodeType operator()(const FreeNode&) const { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    };
    return std::visit(Visitor{}, payload);
}

std::string shape_of(const Graph& graph, bool with_types) {
    std::string shape;
    std::unordered_map<const GraphNode*, size_t> place;
    for (const GraphNode* node : sorted_nodes(graph)) {
        place.emplace(node, place.size());
        std::vector<size_t> before;
        for (const GraphNode* dependency : node->dependencies) before.push_back(place[dependency]);
        std::sort(before.begin(), before.end());
        if (with_types) shape += 't' + std::to_string(node->payload.index());
        for (size_t b : before) shape += ',' + std::to_string(b);
        if (const auto* child = std::get_if<ChildNode>(&node->payload))
            shape += '(' + shape_of(*child->graph, with_types) + ')';
        shape += ';';
    }
    return shape;
}

void perform(const GraphPayload& payload, const Issue& issue) {
    struct Visitor {
        const Issue& issue;
        void operator()(const EmptyNode&) const {}
        void operator()(const KernelNode& n) const { perform_launch(*n.function, n.shape, n.block, issue); }
        void operator()(const CopyNode& n) const { perform_copy(n.copy, issue); }
        void operator()(const SetNode& n) const { perform_set(n.set, issue); }
        void operator()(const HostNode& n) const {
            issue.stream->host_ticket = run_on_host_worker([n] { n.function(n.user); });
        }
        void operator()(const EventRecordNode& n) const {
            std::lock_guard lock(n.event->mutex);
            n.event->recorded = true;
            n.event->capture_id = 0;
            n.event->host_ticket = issue.stream->host_ticket.load();
        }
        void operator()(const EventWaitNode& n) const {
            std::lock_guard lock(n.event->mutex);
            if (n.event->host_ticket > issue.stream->host_ticket)
                issue.stream->host_ticket = n.event->host_ticket;
        }
        void operator()(const LibraryNode& n) const { perform_library_call(n.call, issue); }
        void operator()(const ChildNode&) const {}  // unfolded by make_steps
        void operator()(const AllocationNode& n) const { n.memory->allocated = true; }
        void operator()(const FreeNode& n) const {
            if (free_graph_memory(n.pointer) == GraphFree::not_a_graphs) free_to_pool(n.pointer);
        }
    };
    std::visit(Visitor{issue}, payload);
}

CUresult launch_graph(GraphExec& exec, Stream& stream) {
    if (stream.capture.load(std::memory_order_acquire) != nullptr) {
        // What is captured here is the graph as it is now: later updates of the executable one do not reach
        // it.
        ChildNode child;
        child.graph = std::make_shared<Graph>();
        child.graph->embedded = true;
        std::vector<GraphNode*> before;
        std::lock_guard lock(graph_mutex());
        for (const GraphStep& step : exec.steps) {
            if (step.enabled) before = {add_node(*child.graph, step.payload, before)};
        }
        return add_captured_locked(stream, std::move(child));
    }
    if (CUresult error = refuse_implicit_capture(stream); error != CUDA_SUCCESS) return error;
    Issue issue{stream.context, &stream, current_correlation(), exec.id, 0};
    for (const GraphStep& step : exec.steps) {
        if (!step.enabled) continue;
        issue.graph_node_id = step.node_id;
        perform(step.payload, issue);
    }
    return CUDA_SUCCESS;
}

}  // namespace attnscope::vgpu
