#pragma once
// Lines of launches, copies and memsets as callbacks tell of them: no times, and the driver's function
// attributes as resources.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "driver_call.h"
#include "function_attributes.h"
#include "json_line.h"
#include "name_table.h"
#include "operations.h"
#include "run_file.h"

namespace attnscope::collector {

/// Where and by whom something was launched.
struct LaunchPlace {
    uint32_t correlation = 0, device = 0, context = 0, thread = 0;
    std::optional<uint32_t> stream;
    uint32_t range = 0, process_range = 0;  ///< 0: none
    OperationCall operation;
    uint32_t graph = 0, graph_node = 0;  ///< 0: none, or the order is not known
};

class LaunchRecorder {
  public:
    struct Counts {
        std::atomic<uint64_t> kernels{0}, memcpys{0}, memsets{0};
    };

    explicit LaunchRecorder(RunFile& file) : file_(file) {}

    /// `symbol`: the name as the callback gave it, empty when it gave none. `uncounted`: the code of the
    /// reason why there are no counters, nullptr when there are.
    void kernel(const LaunchPlace& place, const KernelCall& call, const FunctionFacts& facts,
                const std::string& symbol, const char* uncounted);
    void copy(const LaunchPlace& place, const CopyCall& call);
    void memset(const LaunchPlace& place, const MemsetCall& call);
    const Counts& counts() const { return counts_; }

    /// cuLaunch and its like take their block from the function.
    void set_block_shape(void* function, const std::array<uint32_t, 3>& block);
    void set_shared_size(void* function, uint32_t bytes);
    void add_function_shape(KernelCall& call);

    uint32_t graph_id(CUgraphExec exec);
    void forget_graph(CUgraphExec exec);

    void lock_for_fork() { mutex_.lock(); }
    void unlock_for_fork() { mutex_.unlock(); }

  private:
    struct Shape {
        std::array<uint32_t, 3> block{1, 1, 1};
        uint32_t shared = 0;
    };
    uint32_t name_id(const std::string& name);
    static void add_place(JsonLine& line, const LaunchPlace& place);

    RunFile& file_;
    Counts counts_;
    std::mutex mutex_;
    NameTable names_;
    std::unordered_map<void*, Shape> shapes_;
    std::unordered_map<CUgraphExec, uint32_t> graphs_;
    uint32_t last_graph_ = 0;
};

}  // namespace attnscope::collector
