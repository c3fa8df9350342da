#pragma once
// Contexts and devices of a counters collection, and the one Range Profiler that is enabled on a device.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "counter_data_file.h"
#include "counter_session.h"
#include "counters_mode.h"
#include "launch_gate.h"
#include "notices.h"

namespace attnscope::collector {

struct DeviceCounters {
    explicit DeviceCounters(int number) : ordinal(number) {}

    const int ordinal;
    LaunchGate gate;  ///< the rest, but for the atomics, is the thread's that holds it
    bool prepared = false, config_written = false;
    std::shared_ptr<const CounterConfig> config;
    std::shared_ptr<CounterSession> enabled;  ///< of one of its contexts
    std::atomic<const char*> off{nullptr};    ///< why it gives no counters: a diagnostic's code

    // For the watchdog.
    std::atomic<uint64_t> counting_since_ms{0};  ///< 0: no counted launch is on its way
    std::atomic<uint32_t> counting{0};           ///< its correlation
};

struct ContextCounters {
    CUcontext handle = nullptr;
    uint32_t id = 0;
    std::shared_ptr<DeviceCounters> device;
    std::shared_ptr<CounterSession> session;
    std::atomic<const char*> off{nullptr};

    const char* why_off() const {
        const char* code = off.load(std::memory_order_acquire);
        return code != nullptr ? code : device->off.load(std::memory_order_acquire);
    }
};

class CounterBook {
  public:
    CounterBook(const CuptiApi& cupti, const CallbackApi& callbacks, const RangeProfilerApi& profiler,
                Notices& notices, const CountersMode& mode)
        : cupti_(cupti), callbacks_(callbacks), profiler_(profiler), notices_(notices), mode_(mode) {}

    /// Before the first context.
    void set_run(const std::string& folder, const std::string& stem, bool virtual_ground);

    /// `id`: CUPTI's, 0 when it is not known yet. nullptr: CUPTI does not know the context's device.
    std::shared_ptr<ContextCounters> find(CUcontext context, uint32_t id);
    std::vector<std::shared_ptr<ContextCounters>> contexts() const;
    std::vector<std::shared_ptr<DeviceCounters>> devices() const;
    void forget(CUcontext context);

    // The following with the device's gate held, on the program's thread, `current` being its context.

    /// The context's Range Profiler is enabled, any other of the device is not. nullptr, or why not.
    const char* make_ready(ContextCounters& context, CUcontext current);
    /// Notes the failure, once, and ends counting in this context. Gives its code.
    const char* fail(ContextCounters& context, const CuptiFailure& failure, CUcontext current);
    void disable(DeviceCounters& device, CUcontext current);
    /// Writes the decoded image of the session. nullptr, or why not.
    const char* write(ContextCounters& context, DataHeader header, CUcontext current);

    void lock_for_fork();
    void unlock_for_fork();

  private:
    CuptiFailure prepare(DeviceCounters& device, CUcontext context);
    CuptiFailure check_device(const DeviceCounters& device) const;
    CuptiFailure ask_availability(CUcontext context, std::vector<uint8_t>& image) const;
    void tell(const CuptiFailure& failure);

    const CuptiApi& cupti_;
    const CallbackApi& callbacks_;
    const RangeProfilerApi& profiler_;
    Notices& notices_;
    const CountersMode& mode_;
    std::string folder_;
    bool virtual_ground_ = false;
    CounterDataFile data_;

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<ContextCounters>> contexts_;
    std::vector<std::shared_ptr<DeviceCounters>> devices_;
};

}  // namespace attnscope::collector
