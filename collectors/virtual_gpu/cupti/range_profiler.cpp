#include "collectors/virtual_gpu/cupti/range_profiler.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/listener.h"
#include "collectors/virtual_gpu/cupti/objects.h"

namespace attnscope::vgpu::cupti {
namespace {

struct Registry {
    std::mutex mutex;
    std::map<RangeHandle, std::shared_ptr<RangeProfiler>> profilers;
    uintptr_t next_handle = 0x100000;
    pid_t process = 0;
};
Registry& registry = *new Registry;
std::atomic<int> sessions{0};

/// A child of fork has the parent's memory, not its GPU.
void forget_the_parents() {
    if (registry.process == getpid()) return;
    registry.process = getpid();
    registry.profilers.clear();
    sessions = 0;
}

void hang() {
    const char* variable = std::getenv("ATTNSCOPE_VGPU_HANG_MS");
    const auto length = std::chrono::milliseconds(variable ? std::strtol(variable, nullptr, 10) : 60'000);
    report("warning", "vgpu-fault", "a measured launch hangs, as ATTNSCOPE_VGPU_FAULT asks",
           "none is needed");
    std::this_thread::sleep_for(length);
}

void end(RangeProfiler& profiler) {
    const std::lock_guard lock(profiler.mutex);
    if (profiler.started) --sessions;
    profiler.started = false;
}

}  // namespace

void RangeProfiler::collect(Range range) {
    if (ranges_in_session == config.ranges_per_pass || fault_happens(Fault::drop_ranges)) {
        ++dropped;
        return;
    }
    ++ranges_in_session;
    collected.push_back(std::move(range));
}

void RangeProfiler::begin_session() {
    started = true;
    ++sessions;
    ranges_in_session = 0;
    if (submitted == config.passes * config.levels) submitted = 0;
    if (!config.user_range && fault_happens(Fault::extra_range)) count_kernel("");
}

void RangeProfiler::push(const char* name) {
    open.emplace_back(name);
    // A pass measures one level; the first of a level's passes says which ranges there are.
    if (submitted % config.passes == 0 && open.size() == target_level()) collect({open, ""});
}

bool RangeProfiler::end_session() {
    started = false;
    --sessions;
    return ++submitted == config.passes * config.levels;
}

void RangeProfiler::count_kernel(const char* name) {
    if (submitted % config.passes == 0) collect({{std::to_string(next_index++)}, name});
}

CUptiResult enable_ranges(CUcontext context, RangeHandle& handle) {
    const auto device_of_context = device_of(context);
    const auto id = context_id(context);
    if (!device_of_context || !id) return CUPTI_ERROR_INVALID_CONTEXT;
    const std::lock_guard lock(registry.mutex);
    forget_the_parents();
    for (const auto& [other, profiler] : registry.profilers) {
        if (profiler->context == context) return CUPTI_ERROR_INVALID_OPERATION;
        if (profiler->device == *device_of_context) return CUPTI_ERROR_HARDWARE_BUSY;
    }
    auto profiler = std::make_shared<RangeProfiler>();
    profiler->context = context;
    profiler->context_id = *id;
    profiler->device = *device_of_context;
    profiler->chip = device(static_cast<int>(*device_of_context)).chip;
    registry.next_handle += 16;
    handle = reinterpret_cast<RangeHandle>(registry.next_handle);
    registry.profilers.emplace(handle, std::move(profiler));
    return CUPTI_SUCCESS;
}

std::shared_ptr<RangeProfiler> range_profiler(RangeHandle handle) {
    const std::lock_guard lock(registry.mutex);
    forget_the_parents();
    const auto found = registry.profilers.find(handle);
    return found == registry.profilers.end() ? nullptr : found->second;
}

void disable_ranges(RangeHandle handle) {
    std::shared_ptr<RangeProfiler> profiler;
    {
        const std::lock_guard lock(registry.mutex);
        const auto found = registry.profilers.find(handle);
        if (found == registry.profilers.end()) return;
        profiler = found->second;
        registry.profilers.erase(found);
    }
    end(*profiler);
    refresh_hooks();
}

bool device_has_range_profiler(uint32_t device) {
    const std::lock_guard lock(registry.mutex);
    forget_the_parents();
    for (const auto& [handle, profiler] : registry.profilers)
        if (profiler->device == device) return true;
    return false;
}

void context_is_going(CUcontext context) {
    RangeHandle handle = nullptr;
    {
        const std::lock_guard lock(registry.mutex);
        for (const auto& [other, profiler] : registry.profilers)
            if (profiler->context == context) handle = other;
    }
    if (!handle) return;
    report("error", "cupti-contract",
           "a context was destroyed while its range profiler was enabled: the object is dead",
           "call cuptiRangeProfilerDisable at CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING");
    disable_ranges(handle);
}

void drop_range_profilers() {
    std::map<RangeHandle, std::shared_ptr<RangeProfiler>> all;
    {
        const std::lock_guard lock(registry.mutex);
        all.swap(registry.profilers);
    }
    for (const auto& [handle, profiler] : all) end(*profiler);
    refresh_hooks();
}

bool any_session_started() {
    return sessions.load() > 0;
}

void count_kernel(const KernelEvent& event) {
    if (!any_session_started()) return;
    std::vector<std::shared_ptr<RangeProfiler>> all;
    {
        const std::lock_guard lock(registry.mutex);
        forget_the_parents();
        for (const auto& [handle, profiler] : registry.profilers)
            if (profiler->context_id == event.context_id) all.push_back(profiler);
    }
    for (const auto& profiler : all) {
        bool graph_without_replay = false;
        {
            const std::lock_guard lock(profiler->mutex);
            if (!profiler->started || profiler->config.user_range) continue;
            graph_without_replay = event.graph_node_id != 0 && !profiler->config.kernel_replay;
            if (graph_without_replay)
                ++profiler->dropped;
            else
                profiler->count_kernel(event.name ? event.name : "");
        }
        if (graph_without_replay)
            report("error", "cupti-contract",
                   "a graph was launched under auto range without kernel replay: not supported",
                   "use kernel replay, or a user range around the graph");
        // The launch waits until the kernel has ended; this one never does.
        if (fault_happens(Fault::hang_launch)) hang();
    }
}

}  // namespace attnscope::vgpu::cupti
