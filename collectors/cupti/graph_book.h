#pragma once
// What kernels an executable graph launches: cuGraphLaunch tells nothing of them. Read from the graph where
// it is instantiated (CUDA 13.0, cuGraphGetNodes and what follows there).
#include <cuda.h>

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "function_attributes.h"

namespace attnscope::collector {

struct GraphKernel {
    CUgraphNode node = nullptr;                  ///< of the graph it was instantiated from; only a name
    void* function = nullptr;                    ///< CUfunction, or CUkernel where the node holds one
    std::array<uint32_t, 3> grid{}, block{};     ///< blocks, threads
    std::array<uint32_t, 3> cluster{};           ///< blocks, from the node's attribute; zeros: none was given
    uint32_t dynamic_shared = 0;                 ///< bytes a block
    std::shared_ptr<const FunctionFacts> facts;  ///< never null
};

struct GraphContent {
    /// `kernels` are all kernels of the program that a launch runs. What kernels launch themselves is not
    /// seen.
    bool known = false;
    /// Every two kernels are ordered by the graph's edges: `kernels` is the only order they can run in.
    bool order_known = false;
    /// Memcpy and memset nodes. The driver may do one with a kernel of its own, which nothing tells.
    uint32_t copies_and_sets = 0;
    std::vector<GraphKernel> kernels;  ///< in a topological order
};

/// All functions may be called in any thread and from callbacks of CUPTI. They throw nothing, and hold no
/// lock while they ask the driver.
class GraphBook {
  public:
    /// Finds the driver's functions: construct it where collection starts.
    GraphBook();

    /// At the end of a successful cuGraphInstantiate*. `context` and `device` are the calling thread's, for
    /// the kernels' facts.
    void on_instantiated(CUgraphExec exec, CUgraph graph, CUcontext context, int device) noexcept;
    /// At the end of a successful cuGraphExecUpdate*: the graph that was given is now the one that counts.
    void on_updated(CUgraphExec exec, CUgraph graph, CUcontext context, int device) noexcept {
        on_instantiated(exec, graph, context, device);
    }
    /// After cuGraphExecKernelNodeSetParams*. `params` may be those of the first version, which lack the last
    /// two fields: then `first_version`.
    void on_kernel_params(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params,
                          bool first_version, CUcontext context, int device) noexcept;
    /// After anything else that may change its kernels: cuGraphNodeSetEnabled,
    /// cuGraphExecChildGraphNodeSetParams, cuGraphExecNodeSetParams. Its content is not known any more.
    void on_changed(CUgraphExec exec) noexcept;
    void on_destroyed(CUgraphExec exec) noexcept;

    /// Never null; content that is not `known` for a graph that was not seen or was forgotten.
    std::shared_ptr<const GraphContent> content_of(CUgraphExec exec) const noexcept;

    /// What is kept; the graph that was instantiated first is forgotten first.
    static constexpr size_t kMaxGraphs = 4096, kMaxKernels = 131072;
    /// A graph with more nodes than this is not read.
    static constexpr size_t kMaxNodes = 65536;

  private:
    struct Entry {
        std::shared_ptr<GraphContent> content;
        std::list<CUgraphExec>::iterator place;
    };
    using Entries = std::unordered_map<CUgraphExec, Entry>;
    void forget(Entries::iterator entry) noexcept;
    void make_room(size_t kernels) noexcept;

    mutable std::mutex mutex_;
    Entries entries_;
    std::list<CUgraphExec> order_;  ///< oldest first
    size_t kernels_ = 0;            ///< of all entries
    const std::shared_ptr<GraphContent> unknown_;
};

}  // namespace attnscope::collector
