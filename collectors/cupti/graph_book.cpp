#include "graph_book.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "loaded.h"

namespace attnscope::collector {
namespace {

/// The names are those that the driver exports: cuda.h's macros lead to the newest of each.
struct Driver {
    template <class Function>
    static Function* find(const char* name) {
        return find_function<Function>("libcuda.so.1", name);
    }
    using GetEdges = CUresult(CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*, size_t*);
    using GetEdgesFirst = CUresult(CUgraph, CUgraphNode*, CUgraphNode*, size_t*);
    using GetParams = CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
    using GetParamsFirst = CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1*);
    using GetAttribute = CUresult(CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue*);

    decltype(&cuGraphGetNodes) nodes = find<std::remove_pointer_t<decltype(nodes)>>("cuGraphGetNodes");
    decltype(&cuGraphNodeGetType) type = find<std::remove_pointer_t<decltype(type)>>("cuGraphNodeGetType");
    decltype(&cuGraphChildGraphNodeGetGraph) child =
        find<std::remove_pointer_t<decltype(child)>>("cuGraphChildGraphNodeGetGraph");
    GetEdges* edges = find<GetEdges>("cuGraphGetEdges_v2");
    GetEdgesFirst* edges_first = find<GetEdgesFirst>("cuGraphGetEdges");
    GetParams* params = find<GetParams>("cuGraphKernelNodeGetParams_v2");
    GetParamsFirst* params_first = find<GetParamsFirst>("cuGraphKernelNodeGetParams");
    GetAttribute* attribute = find<GetAttribute>("cuGraphKernelNodeGetAttribute");
};

const Driver& driver() {
    static const Driver found;
    return found;
}

void set_params(GraphKernel& kernel, const CUDA_KERNEL_NODE_PARAMS& params) {
    kernel.function = params.func != nullptr ? static_cast<void*>(params.func) : params.kern;
    kernel.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
    kernel.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
    kernel.dynamic_shared = params.sharedMemBytes;
}

CUDA_KERNEL_NODE_PARAMS widen(const void* first_version) {
    CUDA_KERNEL_NODE_PARAMS params{};
    std::memcpy(&params, first_version, sizeof(CUDA_KERNEL_NODE_PARAMS_v1));  // its first fields
    return params;
}

/// A kernel that names a context runs there; its function belongs to it.
CUcontext context_of(const CUDA_KERNEL_NODE_PARAMS& params, CUcontext current) {
    return params.func == nullptr && params.ctx != nullptr ? params.ctx : current;
}

struct Edge {
    size_t from, to;
};

/// Reads one graph, and the graphs in it, into `content`.
class Reader {
  public:
    Reader(GraphContent& content, CUcontext context, int device)
        : content_(content), context_(context), device_(device) {}

    /// Appends the kernels of `graph`; false: some may be unseen.
    bool read(CUgraph graph, int depth = 0) {
        constexpr int kMaxDepth = 32;
        std::vector<CUgraphNode> nodes;
        std::vector<Edge> edges;
        if (depth > kMaxDepth || !get_nodes(graph, nodes) || !get_edges(graph, nodes, edges)) return false;
        const std::vector<size_t> order = topological(nodes.size(), edges);
        if (order.size() != nodes.size()) return false;

        // How many of this graph's kernels are known to have run before a node starts: they are all, for each
        // node with kernels, where the order is the only possible one.
        std::vector<size_t> before(nodes.size(), 0);
        std::sort(edges.begin(), edges.end(), [](Edge a, Edge b) { return a.from < b.from; });
        const size_t start = content_.kernels.size();
        for (const size_t node : order) {
            const size_t seen = content_.kernels.size() - start;
            if (!read_node(nodes[node], depth)) return false;
            size_t after = before[node];
            if (const size_t now = content_.kernels.size() - start; now != seen) {
                if (before[node] != seen) content_.order_known = false;
                after = now;
            }
            auto edge = std::lower_bound(edges.begin(), edges.end(), node,
                                         [](Edge e, size_t from) { return e.from < from; });
            for (; edge != edges.end() && edge->from == node; ++edge)
                before[edge->to] = std::max(before[edge->to], after);
        }
        return true;
    }

  private:
    bool get_nodes(CUgraph graph, std::vector<CUgraphNode>& nodes) {
        size_t count = 0;
        if (driver().nodes(graph, nullptr, &count) != CUDA_SUCCESS) return false;
        nodes_ += count;
        if (nodes_ > GraphBook::kMaxNodes) return false;
        nodes.resize(count);
        if (count != 0 && driver().nodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return false;
        return count == nodes.size();
    }

    bool get_edges(CUgraph graph, const std::vector<CUgraphNode>& nodes, std::vector<Edge>& edges) {
        const Driver& cuda = driver();
        size_t count = 0;
        const auto get = [&](CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data) {
            return cuda.edges != nullptr ? cuda.edges(graph, from, to, data, &count)
                                         : cuda.edges_first(graph, from, to, &count);
        };
        if (get(nullptr, nullptr, nullptr) != CUDA_SUCCESS) return false;
        std::vector<CUgraphNode> from(count), to(count);
        std::vector<CUgraphEdgeData> data(count);
        if (count != 0 && get(from.data(), to.data(), data.data()) != CUDA_SUCCESS) return false;
        if (count != from.size()) return false;

        std::unordered_map<CUgraphNode, size_t> index;
        for (size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i], i);
        for (size_t i = 0; i < count; ++i) {
            const auto a = index.find(from[i]), b = index.find(to[i]);
            if (a == index.end() || b == index.end()) return false;
            edges.push_back({a->second, b->second});
            // A programmatic edge lets the second kernel start before the first has ended.
            if (data[i].type != 0 || data[i].from_port != 0) content_.order_known = false;
        }
        return true;
    }

    static std::vector<size_t> topological(size_t count, const std::vector<Edge>& edges) {
        std::vector<size_t> waits(count, 0), order;
        std::vector<std::vector<size_t>> next(count);
        for (const Edge& edge : edges) {
            ++waits[edge.to];
            next[edge.from].push_back(edge.to);
        }
        for (size_t i = 0; i < count; ++i)
            if (waits[i] == 0) order.push_back(i);
        for (size_t done = 0; done < order.size(); ++done)
            for (const size_t to : next[order[done]])
                if (--waits[to] == 0) order.push_back(to);
        return order;
    }

    bool read_node(CUgraphNode node, int depth) {
        CUgraphNodeType type{};
        if (driver().type(node, &type) != CUDA_SUCCESS) return false;
        switch (type) {
            case CU_GRAPH_NODE_TYPE_KERNEL:
                return read_kernel(node);
            case CU_GRAPH_NODE_TYPE_GRAPH: {
                CUgraph child = nullptr;
                return driver().child(node, &child) == CUDA_SUCCESS && read(child, depth + 1);
            }
            case CU_GRAPH_NODE_TYPE_MEMCPY:
            case CU_GRAPH_NODE_TYPE_MEMSET:
                ++content_.copies_and_sets;
                return true;
            case CU_GRAPH_NODE_TYPE_HOST:
            case CU_GRAPH_NODE_TYPE_EMPTY:
            case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
            case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
            case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            case CU_GRAPH_NODE_TYPE_MEM_FREE:
            case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
                return true;
            default:
                return false;  // conditional nodes, and what a newer driver adds
        }
    }

    bool read_kernel(CUgraphNode node) {
        const Driver& cuda = driver();
        CUDA_KERNEL_NODE_PARAMS params{};
        if (cuda.params != nullptr) {
            if (cuda.params(node, &params) != CUDA_SUCCESS) return false;
        } else {
            CUDA_KERNEL_NODE_PARAMS_v1 first{};
            if (cuda.params_first == nullptr || cuda.params_first(node, &first) != CUDA_SUCCESS) return false;
            params = widen(&first);
        }
        GraphKernel kernel;
        kernel.node = node;
        set_params(kernel, params);
        CUkernelNodeAttrValue value{};
        if (cuda.attribute != nullptr &&
            cuda.attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) == CUDA_SUCCESS)
            kernel.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        kernel.facts = shared_facts_of(context_of(params, context_), kernel.function, device_);
        content_.kernels.push_back(std::move(kernel));
        return true;
    }

    GraphContent& content_;
    CUcontext context_;
    int device_;
    size_t nodes_ = 0;
};

bool can_read() {
    const Driver& cuda = driver();
    return cuda.nodes != nullptr && cuda.type != nullptr && cuda.child != nullptr &&
           (cuda.edges != nullptr || cuda.edges_first != nullptr);
}

}  // namespace

GraphBook::GraphBook() : unknown_(std::make_shared<GraphContent>()) {
    driver();
    prepare_facts();
}

void GraphBook::forget(Entries::iterator entry) noexcept {
    kernels_ -= entry->second.content->kernels.size();
    order_.erase(entry->second.place);
    entries_.erase(entry);
}

void GraphBook::make_room(size_t kernels) noexcept {
    while (!order_.empty() && (entries_.size() >= kMaxGraphs || kernels_ + kernels > kMaxKernels))
        forget(entries_.find(order_.front()));
}

void GraphBook::on_instantiated(CUgraphExec exec, CUgraph graph, CUcontext context, int device) noexcept {
    on_destroyed(exec);  // whatever happens below, nothing is left of a graph that had this handle
    try {
        const OwnCall own;
        auto content = std::make_shared<GraphContent>();
        content->order_known = true;
        content->known = can_read() && Reader(*content, context, device).read(graph) &&
                         content->kernels.size() <= kMaxKernels;
        if (!content->known) return;
        const std::lock_guard lock(mutex_);
        if (const auto old = entries_.find(exec); old != entries_.end()) forget(old);
        make_room(content->kernels.size());
        order_.push_back(exec);
        const size_t kernels = content->kernels.size();
        try {
            entries_.insert_or_assign(exec, Entry{std::move(content), std::prev(order_.end())});
        } catch (const std::exception&) {
            order_.pop_back();
            return;
        }
        kernels_ += kernels;
    } catch (const std::exception&) {
        // Out of memory: this graph's content is not known.
    }
}

void GraphBook::on_kernel_params(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params,
                                 bool first_version, CUcontext context, int device) noexcept {
    if (params == nullptr) return on_changed(exec);
    try {
        const CUDA_KERNEL_NODE_PARAMS wide = first_version ? widen(params) : *params;
        GraphKernel changed;
        set_params(changed, wide);
        changed.facts = shared_facts_of(context_of(wide, context), changed.function, device);
        const std::lock_guard lock(mutex_);
        const auto entry = entries_.find(exec);
        if (entry == entries_.end()) return;
        std::shared_ptr<GraphContent>& content = entry->second.content;
        if (content.use_count() != 1) content = std::make_shared<GraphContent>(*content);
        std::atomic_thread_fence(std::memory_order_acquire);  // whoever had it has done with it
        const auto kernel = std::find_if(content->kernels.begin(), content->kernels.end(),
                                         [node](const GraphKernel& k) { return k.node == node; });
        if (kernel == content->kernels.end()) return forget(entry);
        changed.node = node;
        changed.cluster = kernel->cluster;
        *kernel = std::move(changed);
    } catch (const std::exception&) {
        on_changed(exec);
    }
}

void GraphBook::on_changed(CUgraphExec exec) noexcept {
    on_destroyed(exec);
}

void GraphBook::on_destroyed(CUgraphExec exec) noexcept {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(exec);
    if (entry != entries_.end()) forget(entry);
}

std::shared_ptr<const GraphContent> GraphBook::content_of(CUgraphExec exec) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(exec);
    return entry != entries_.end() ? entry->second.content : unknown_;
}

}  // namespace attnscope::collector
