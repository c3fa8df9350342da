#pragma once
// Joins CUPTI's activity records by correlation id into one flat line a launch. Records come in any order:
// kernels, copies and memsets wait for the API record that tells their thread and time, within bounds.
#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "name_table.h"
#include "operations.h"
#include "ranges.h"

namespace attnscope::collector {

class Joiner {
  public:
    struct Options {
        bool times = true;  ///< false on a virtual GPU: whatever the times are, nobody measured them
        size_t waiting =
            65536;  ///< launches that wait for their API record; beyond, the oldest go without a thread
        uint32_t probe_thread =
            0;  ///< the collector's own thread, whose cuDriverGetVersion is a sign of life
    };
    struct Counts {
        uint64_t kernels = 0, memcpys = 0, memsets = 0;
        uint64_t without_api_record = 0;  ///< written without thread and range
        uint64_t invalid_times = 0;       ///< end before start
        uint64_t failed_launches = 0;     ///< calls that were to launch and answered an error: nothing ran
        uint32_t first_failure = 0;       ///< what the first of them answered
    };

    Joiner(const RangeBook& ranges, Options options, const OperationBook* operations = nullptr);
    ~Joiner();
    Joiner(const Joiner&) = delete;
    Joiner& operator=(const Joiner&) = delete;

    void record(const CUpti_Activity* record);
    /// Call after each round of buffers: appends to `out` what is complete, or everything when `last`.
    void settle(std::string& out, bool last);
    bool nothing_waits() const { return waiting_.empty(); }
    const Counts& counts() const { return counts_; }
    uint64_t probes_seen() const { return probes_seen_; }
    /// Before the first record.
    void set_times(bool times) { options_.times = times; }
    void set_probe_thread(uint32_t thread) { probe_thread_.store(thread, std::memory_order_relaxed); }

  private:
    enum class Kind : uint8_t { kernel, memcpy, memset };
    struct Launch {
        Kind kind;
        uint8_t launch_type, copy_kind;
        bool asynchronous, settled_once;
        uint16_t registers;
        uint32_t correlation, device, context, stream, name, graph;
        std::array<int32_t, 3> grid, block;
        std::array<uint32_t, 3> cluster;
        uint32_t static_shared, dynamic_shared, local_per_thread, value;
        uint64_t bytes, start, end, graph_node;
    };
    /// What is known of one correlation id, in a ring indexed by the id: ids rise, so a slot is reused only
    /// 2^19 launches later. The pages of a ring that is never gone through are never touched.
    struct Slot {
        uint32_t correlation, thread;
        uint64_t start_ns, external;
        bool has_api, has_external, used, failed;
    };
    static constexpr uint32_t kSlots = 1u << 19;
    static constexpr size_t kLate = 1u << 16;

    Slot* slot(uint32_t correlation, bool create);
    Slot* late_slot(const Slot& wanted);
    void take_kernel(const CUpti_Activity* record);
    void take_memset(const CUpti_Activity* record);
    template <class Record>
    void take_copy(const CUpti_Activity* record);
    void take_api(const CUpti_Activity* record);
    void take_external(const CUpti_Activity* record);
    void add(const Launch& launch);
    void write(std::string& out, const Launch& launch, const Slot* known);

    const RangeBook& ranges_;
    const OperationBook* operations_;
    Options options_;
    std::atomic<uint32_t> probe_thread_{0};
    uint64_t probes_seen_ = 0;
    Slot* slots_ = nullptr;
    /// Slots whose place was needed before all their records had come: a thread that got no processor for
    /// half a million launches of the others holds its own in a half-filled buffer.
    std::unordered_map<uint32_t, Slot> late_;
    bool ranges_seen_ = false;  ///< external correlation records exist, so one may still be on its way
    std::vector<Launch> waiting_;
    std::string names_;  ///< `name` lines to be written before the launches that use them
    NameTable table_;
    Counts counts_;
};

/// Walks a completed buffer with the loaded CUPTI's own step function. `valid` bytes were filled.
using NextRecord = CUptiResult (*)(uint8_t*, size_t, CUpti_Activity**);
void read_buffer(Joiner& joiner, NextRecord next, uint8_t* buffer, size_t valid);

}  // namespace attnscope::collector
