#pragma once
// What kernels an executable graph launches: cuGraphLaunch tells nothing of them. Read from the graph where
// it is instantiated. All functions may be called from callbacks of CUPTI, in any thread; nothing is thrown,
// no lock is held while the driver is called.
#include <cuda.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "function_attributes.h"

namespace attnscope::collector {

struct GraphKernel {
    CUgraphNode node = nullptr;  ///< of the graph it was instantiated from; only a name, never used
    void* function = nullptr;    ///< CUfunction, or CUkernel where the node holds one
    std::array<uint32_t, 3> grid{}, block{};  ///< blocks, threads
    std::array<uint32_t, 3> cluster{};        ///< blocks, from the node's attribute; zeros: none was given
    uint32_t dynamic_shared = 0;              ///< bytes a block
    FunctionFacts facts;
};

struct GraphContent {
    bool known = false;  ///< `kernels` are all that a launch runs
    /// Every two kernels are ordered by the graph's edges, so `kernels` is the only order they can run in.
    bool order_known = false;
    std::vector<GraphKernel> kernels;  ///< in a topological order
};

class GraphBook {
  public:
    /// At the end of a successful cuGraphInstantiate*. `context` and `device` of the calling thread, for the
    /// kernels' facts.
    void on_instantiated(CUgraphExec exec, CUgraph graph, CUcontext context, int device) noexcept;
    /// The graph's kernels may be other ones from now on (cuGraphExecUpdate, cuGraphNodeSetEnabled,
    /// cuGraphExecChildGraphNodeSetParams, cuGraphExecNodeSetParams, cuGraphExecKernelNodeSetParams).
    void on_changed(CUgraphExec exec) noexcept;
    /// cuGraphExecUpdate with the graph that it was given: as a new instantiation.
    void on_updated(CUgraphExec exec, CUgraph graph, CUcontext context, int device) noexcept {
        on_instantiated(exec, graph, context, device);
    }
    void on_destroyed(CUgraphExec exec) noexcept;
    /// Never null: content that is not known for a graph that was not seen.
    std::shared_ptr<const GraphContent> content_of(CUgraphExec exec) const noexcept;

    static constexpr size_t kMaxGraphs = 4096;     ///< kept; the oldest is forgotten first
    static constexpr size_t kMaxKernels = 262144;  ///< of all graphs kept

  private:
    struct State;
    static State& state();
};

}  // namespace attnscope::collector
