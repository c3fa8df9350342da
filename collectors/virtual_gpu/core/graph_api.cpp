// Graphs as wholes: cuGraphCreate, Destroy, Clone, nodes and edges, user objects.
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/graph.h"
#include "collectors/virtual_gpu/core/graph_lookup.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

CUresult find_graph(CUgraph handle, Graph*& graph) {
    graph = handles<Graph>().get(handle);
    return graph != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult find_node(CUgraphNode handle, GraphNode*& node) {
    node = handles<GraphNode>().get(handle);
    return node != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult find_dependencies(const CUgraphNode* from, size_t count, const Graph& graph,
                           std::vector<GraphNode*>& nodes) {
    if (count != 0 && from == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        GraphNode* node = nullptr;
        if (CUresult error = find_node(from[i], node); error != CUDA_SUCCESS) return error;
        if (node->graph != &graph || std::find(nodes.begin(), nodes.end(), node) != nodes.end())
            return CUDA_ERROR_INVALID_VALUE;
        nodes.push_back(node);
    }
    return CUDA_SUCCESS;
}

namespace {

// The driver's way to hand out a list: without an array the length is answered; with one, it is filled and
// padded with NULL.
CUresult hand_out(const std::vector<CUgraphNode>& list, CUgraphNode* out, size_t* count) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (out != nullptr)
        for (size_t i = 0; i < *count; i++) out[i] = i < list.size() ? list[i] : nullptr;
    *count = out != nullptr ? std::min(*count, list.size()) : list.size();
    return CUDA_SUCCESS;
}

struct UserObject {
    CUuserObject handle = nullptr;
    void* pointer = nullptr;
    CUhostFn destroy = nullptr;
    std::atomic<unsigned> references{0};
};

void release(UserObject* object, unsigned count) {
    if (object->references.fetch_sub(count) != count) return;
    handles<UserObject>().remove(object->handle);
    // On a thread of the driver, as documented: the program must not call CUDA in it.
    run_on_host_worker([object] {
        object->destroy(object->pointer);
        delete object;
    });
}

}  // namespace

namespace driver {

CUresult cuGraphCreate(CUgraph* out, unsigned flags) {
    if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *out = create_graph()->handle;
    return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph handle) {
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    if (graph->embedded) return CUDA_ERROR_INVALID_VALUE;  // its node owns it
    delete graph;
    return CUDA_SUCCESS;
}
CUresult cuGraphClone(CUgraph* out, CUgraph handle) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    Graph* copy = clone_graph(*graph).release();
    copy->handle = static_cast<CUgraph>(handles<Graph>().add(copy));
    *out = copy->handle;
    return CUDA_SUCCESS;
}
CUresult cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    GraphNode* node = nullptr;
    if (CUresult error = find_graph(clone, graph); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_node(original, node); error != CUDA_SUCCESS) return error;
    for (const auto& candidate : graph->nodes) {
        if (candidate->original != node) continue;
        *out = candidate->handle;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* out, size_t* count) {
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    std::vector<CUgraphNode> list;
    for (const auto& node : graph->nodes) list.push_back(node->handle);
    return hand_out(list, out, count);
}
CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* out, size_t* count) {
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    std::vector<CUgraphNode> list;
    for (const auto& node : graph->nodes)
        if (node->dependencies.empty()) list.push_back(node->handle);
    return hand_out(list, out, count);
}
CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                            size_t* count) {
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    std::vector<CUgraphNode> starts, ends;
    for (const auto& node : graph->nodes)
        for (const GraphNode* before : node->dependencies) {
            starts.push_back(before->handle);
            ends.push_back(node->handle);
        }
    size_t filled = *count;
    if (data != nullptr) std::fill_n(data, std::min(filled, starts.size()), CUgraphEdgeData{});
    hand_out(ends, to, &filled);
    return hand_out(starts, from, count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
    return driver::cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                                       size_t* count) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    GraphNode* node = nullptr;
    if (CUresult error = find_node(handle, node); error != CUDA_SUCCESS) return error;
    std::vector<CUgraphNode> list;
    for (const GraphNode* before : node->dependencies) list.push_back(before->handle);
    if (data != nullptr) std::fill_n(data, std::min(*count, list.size()), CUgraphEdgeData{});
    return hand_out(list, out, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* out, size_t* count) {
    return driver::cuGraphNodeGetDependencies_v2(node, out, nullptr, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                                         size_t* count) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    GraphNode* node = nullptr;
    if (CUresult error = find_node(handle, node); error != CUDA_SUCCESS) return error;
    std::vector<CUgraphNode> list;
    for (const auto& other : node->graph->nodes)
        if (std::find(other->dependencies.begin(), other->dependencies.end(), node) !=
            other->dependencies.end())
            list.push_back(other->handle);
    if (data != nullptr) std::fill_n(data, std::min(*count, list.size()), CUgraphEdgeData{});
    return hand_out(list, out, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* out, size_t* count) {
    return driver::cuGraphNodeGetDependentNodes_v2(node, out, nullptr, count);
}
CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    GraphNode* node = nullptr;
    if (CUresult error = find_node(handle, node); error != CUDA_SUCCESS) return error;
    *type = type_of(node->payload);
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t count) {
    if (count != 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    for (size_t i = 0; i < count; i++) {
        GraphNode *start = nullptr, *end = nullptr;
        if (find_node(from[i], start) != CUDA_SUCCESS || find_node(to[i], end) != CUDA_SUCCESS)
            return CUDA_ERROR_INVALID_VALUE;
        if (start->graph != graph || end->graph != graph || start == end) return CUDA_ERROR_INVALID_VALUE;
        if (std::find(end->dependencies.begin(), end->dependencies.end(), start) != end->dependencies.end())
            return CUDA_ERROR_INVALID_VALUE;
        end->dependencies.push_back(start);
    }
    return CUDA_SUCCESS;
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
    return driver::cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
    if (count != 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    for (size_t i = 0; i < count; i++) {
        GraphNode *start = nullptr, *end = nullptr;
        if (find_node(from[i], start) != CUDA_SUCCESS || find_node(to[i], end) != CUDA_SUCCESS)
            return CUDA_ERROR_INVALID_VALUE;
        const auto edge = std::find(end->dependencies.begin(), end->dependencies.end(), start);
        if (edge == end->dependencies.end()) return CUDA_ERROR_INVALID_VALUE;
        end->dependencies.erase(edge);
    }
    return CUDA_SUCCESS;
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
    return driver::cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
    std::lock_guard lock(graph_mutex());
    GraphNode* node = nullptr;
    if (CUresult error = find_node(handle, node); error != CUDA_SUCCESS) return error;
    Graph& graph = *node->graph;
    for (const auto& other : graph.nodes)
        other->dependencies.erase(std::remove(other->dependencies.begin(), other->dependencies.end(), node),
                                  other->dependencies.end());
    handles<GraphNode>().remove(handle);
    graph.nodes.erase(
        std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& n) { return n.get() == node; }));
    return CUDA_SUCCESS;
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    std::ofstream file(path);
    file << "digraph dot {\n";
    for (const auto& node : graph->nodes) {
        file << "\"node_" << node->id << "\" [label=\"" << type_of(node->payload);
        if (const auto* kernel = std::get_if<KernelNode>(&node->payload))
            file << ' ' << kernel->function->name;
        file << "\"];\n";
        for (const GraphNode* before : node->dependencies)
            file << "\"node_" << before->id << "\" -> \"node_" << node->id << "\";\n";
    }
    file << "}\n";
    return file.good() ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult cuUserObjectCreate(CUuserObject* out, void* pointer, CUhostFn destroy, unsigned references,
                            unsigned flags) {
    if (out == nullptr || destroy == nullptr || references == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    auto* object = new UserObject();
    object->pointer = pointer;
    object->destroy = destroy;
    object->references = references;
    object->handle = static_cast<CUuserObject>(handles<UserObject>().add(object));
    *out = object->handle;
    return CUDA_SUCCESS;
}
CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
    UserObject* object = handles<UserObject>().get(handle);
    if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    object->references += count;
    return CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
    UserObject* object = handles<UserObject>().get(handle);
    if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    release(object, count);
    return CUDA_SUCCESS;
}
CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object_handle, unsigned count, unsigned flags) {
    UserObject* object = handles<UserObject>().get(object_handle);
    if (object == nullptr || count == 0 || (flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->references += count;
    // Clones and executable graphs share the reference; it goes with the last of them.
    for (unsigned i = 0; i < count; i++)
        graph->user_objects.emplace_back(object, [object](void*) { release(object, 1); });
    return CUDA_SUCCESS;
}
CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object_handle, unsigned count) {
    UserObject* object = handles<UserObject>().get(object_handle);
    if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(graph_mutex());
    Graph* graph = nullptr;
    if (CUresult error = find_graph(handle, graph); error != CUDA_SUCCESS) return error;
    for (unsigned i = 0; i < count; i++) {
        const auto held = std::find_if(graph->user_objects.begin(), graph->user_objects.end(),
                                       [&](const auto& p) { return p.get() == object; });
        if (held == graph->user_objects.end()) return CUDA_ERROR_INVALID_VALUE;
        graph->user_objects.erase(held);
    }
    return CUDA_SUCCESS;
}

}  // namespace driver
}  // namespace attnscope::vgpu
