#include "nvml.h"

#include <dlfcn.h>

namespace attnscope::launch {
namespace {

// nvml.h, which is not needed to build: nvmlReturn_t 0 is success; nvmlClockType_t; nvmlTemperatureSensors_t.
constexpr int kSuccess = 0, kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

using Device = void*;

template <class Function>
void look_up(void* library, Function& function, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (function == nullptr) function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

struct Nvml::Functions {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*handle)(unsigned, Device*) = nullptr;
    int (*uuid)(Device, char*, unsigned) = nullptr;
    int (*name)(Device, char*, unsigned) = nullptr;
    int (*clock)(Device, int, unsigned*) = nullptr;
    int (*max_clock)(Device, int, unsigned*) = nullptr;
    int (*reasons)(Device, unsigned long long*) = nullptr;
    int (*temperature)(Device, int, unsigned*) = nullptr;
    int (*power)(Device, unsigned*) = nullptr;
};

std::unique_ptr<Nvml> Nvml::load(const std::string& file) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: its threads may outlive us
    if (library == nullptr) return nullptr;
    auto f = std::make_unique<Functions>();
    look_up(library, f->init, {"nvmlInit_v2", "nvmlInit"});
    look_up(library, f->shutdown, {"nvmlShutdown"});
    look_up(library, f->count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
    look_up(library, f->handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
    look_up(library, f->uuid, {"nvmlDeviceGetUUID"});
    look_up(library, f->name, {"nvmlDeviceGetName"});
    look_up(library, f->clock, {"nvmlDeviceGetClockInfo"});
    look_up(library, f->max_clock, {"nvmlDeviceGetMaxClockInfo"});
    look_up(library, f->reasons,
            {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
    look_up(library, f->temperature, {"nvmlDeviceGetTemperature"});
    look_up(library, f->power, {"nvmlDeviceGetPowerUsage"});
    if (f->init == nullptr || f->count == nullptr || f->handle == nullptr || f->init() != kSuccess)
        return nullptr;
    std::unique_ptr<Nvml> nvml(new Nvml);
    unsigned count = 0;
    if (f->count(&count) != kSuccess) count = 0;
    for (unsigned i = 0; i < count; ++i) {
        Device device = nullptr;
        nvml->devices_.push_back(f->handle(i, &device) == kSuccess ? device : nullptr);
    }
    nvml->functions_ = std::move(f);
    return nvml;
}

Nvml::~Nvml() {
    if (functions_ && functions_->shutdown != nullptr) functions_->shutdown();
}

std::vector<ClockReading> Nvml::read() const {
    const Functions& f = *functions_;
    std::vector<ClockReading> readings;
    for (unsigned i = 0; i < devices_.size(); ++i) {
        const Device device = devices_[i];
        if (device == nullptr) continue;
        ClockReading reading;
        reading.device = i;
        char text[97] = "";  // NVML's own limit
        if (f.uuid != nullptr && f.uuid(device, text, sizeof text - 1) == kSuccess) reading.uuid = text;
        if (f.name != nullptr && f.name(device, text, sizeof text - 1) == kSuccess) reading.name = text;
        const auto ask = [&](auto function, auto&& result, auto... which) {
            typename std::remove_reference_t<decltype(result)>::value_type value = 0;
            if (function != nullptr && function(device, which..., &value) == kSuccess) result = value;
        };
        ask(f.clock, reading.sm_mhz, kClockSm);
        ask(f.clock, reading.memory_mhz, kClockMemory);
        ask(f.max_clock, reading.sm_max_mhz, kClockSm);
        ask(f.max_clock, reading.memory_max_mhz, kClockMemory);
        ask(f.reasons, reading.throttle_reasons);
        ask(f.temperature, reading.temperature_c, kTemperatureGpu);
        ask(f.power, reading.power_mw);
        readings.push_back(std::move(reading));
    }
    return readings;
}

}  // namespace attnscope::launch
