#pragma once
// The Range Profiler's state: one profiler for each context that is enabled, sessions (Start to Stop) with
// ranges in it. A range is a kernel (auto range) or what lies between push and pop (user range). The rules
// are those of cupti_range_profiler.h; what it leaves open is refused.
#include <cuda.h>
#include <cupti_range_profiler.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/cupti/counter_image.h"

namespace attnscope::vgpu::cupti {

struct Range {
    std::vector<std::string> path;
    std::string kernel;  ///< mangled; auto range
};

/// What SetConfig said.
struct RangeConfig {
    bool set = false;
    bool user_range = false;
    bool kernel_replay = false;
    uint8_t* image = nullptr;
    size_t image_size = 0;
    size_t ranges_per_pass = 0;
    unsigned first_level = 1, levels = 1;
    size_t passes = 1;  ///< of the config image; 1 under kernel replay, where each launch runs them all
};

struct RangeProfiler {
    CUcontext context = nullptr;
    uint32_t context_id = 0;
    uint32_t device = 0;
    std::string chip;
    std::atomic_flag entered;  ///< a call is in this profiler: nobody documents that two may be

    std::mutex mutex;                     ///< guards what follows
    std::map<size_t, ImageShape> shapes;  ///< by the size that GetCounterDataSize answered
    RangeConfig config;
    bool started = false;
    size_t submitted = 0;           ///< sessions of the `passes` x `levels` that the config needs
    std::vector<std::string> open;  ///< names pushed
    size_t ranges_in_session = 0;
    std::vector<Range> collected;  ///< not yet decoded
    size_t dropped = 0;            ///< not yet told
    uint64_t next_index = 0;       ///< auto range: names count on as long as the context is enabled

    unsigned target_level() const {
        return config.first_level + static_cast<unsigned>(submitted / config.passes);
    }
    void begin_session();
    void push(const char* name);
    /// True when all passes have been submitted.
    bool end_session();
    void count_kernel(const char* name);
    void collect(Range range);
};

/// Handles are numbers that are never used again: a dead one is known as dead.
using RangeHandle = CUpti_RangeProfiler_Object*;

/// INVALID_OPERATION where the context is enabled already, HARDWARE_BUSY where another context of the device
/// is.
CUptiResult enable_ranges(CUcontext context, RangeHandle& handle);
/// nullptr for a handle that is not alive.
std::shared_ptr<RangeProfiler> range_profiler(RangeHandle handle);
void disable_ranges(RangeHandle handle);
bool device_has_range_profiler(uint32_t device);

/// The context's profiler dies with it.
void context_is_going(CUcontext context);
void drop_range_profilers();
bool any_session_started();
/// A kernel was issued.
void count_kernel(const KernelEvent& event);

}  // namespace attnscope::vgpu::cupti
