// NVML's functions are declared here by hand: its header is in no package that a build needs. Names,
// arguments and numbers are those of https://docs.nvidia.com/deploy/nvml-api/.
#include <dlfcn.h>

#include <cstdlib>
#include <map>

#include "answer_lines.h"
#include "ask_child.h"
#include "probes.h"

namespace attnscope::doctor {
namespace {

using Device = void*;        // nvmlDevice_t
constexpr int kSmClock = 1;  // NVML_CLOCK_SM

struct ConfidentialState {  // nvmlConfComputeSystemState_t
    unsigned environment, feature, devtools;
};

class Nvml {
  public:
    Nvml(void* library, int out) : library_(library), out_(out) {}

    template <class... Arguments>
    int call(const char* name, Arguments... arguments) const {
        const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
        return function == nullptr ? -1 : function(arguments...);
    }

    /// One answer of one number, said where there is one.
    template <class Number, class... Arguments>
    void number(const char* key, const char* name, Arguments... arguments) const {
        Number value = 0;
        if (call(name, arguments..., &value) == 0) say(out_, key, static_cast<long long>(value));
    }
    /// Of two numbers, the first.
    void first(const char* key, const char* name, Device device) const {
        unsigned value = 0, second = 0;
        if (call(name, device, &value, &second) == 0) say(out_, key, value);
    }

  private:
    void* library_;
    int out_;
};

void describe(const Nvml& nvml, Device device, int out) {
    char name[128] = "";
    nvml.call("nvmlDeviceGetName", device, static_cast<char*>(name), static_cast<unsigned>(sizeof name - 1));
    say(out, "device", name);
    int major = 0, minor = 0;
    if (nvml.call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor) == 0)
        say(out, "capability", major * 10 + minor);
    nvml.number<int>("persistence", "nvmlDeviceGetPersistenceMode", device);
    nvml.first("mig", "nvmlDeviceGetMigMode", device);
    nvml.first("ecc", "nvmlDeviceGetEccMode", device);
    nvml.first("auto_boost", "nvmlDeviceGetAutoBoostedClocksEnabled", device);
    nvml.number<int>("virtualization", "nvmlDeviceGetVirtualizationMode", device);
    nvml.number<int>("compute_mode", "nvmlDeviceGetComputeMode", device);
    nvml.number<unsigned>("sm", "nvmlDeviceGetClockInfo", device, kSmClock);
    nvml.number<unsigned>("sm_max", "nvmlDeviceGetMaxClockInfo", device, kSmClock);
    nvml.number<unsigned>("applications", "nvmlDeviceGetApplicationsClock", device, kSmClock);
    nvml.number<unsigned>("default_applications", "nvmlDeviceGetDefaultApplicationsClock", device, kSmClock);
    nvml.number<unsigned long long>("throttle", "nvmlDeviceGetCurrentClocksThrottleReasons", device);
}

void ask(const std::string& library, int out) {
    void* handle = dlopen(library.c_str(), RTLD_NOW);
    if (handle == nullptr) return say(out, "problem", "libnvidia-ml.so.1 is not there");
    const Nvml nvml(handle, out);
    if (const int result = nvml.call("nvmlInit_v2"); result != 0) {
        const auto words_of = reinterpret_cast<const char* (*)(int)>(dlsym(handle, "nvmlErrorString"));
        const char* words = words_of != nullptr ? words_of(result) : nullptr;
        return say(out, "problem",
                   "nvmlInit answered " + std::to_string(result) +
                       (words != nullptr ? std::string(" (") + words + ')' : ""));
    }
    char driver[96] = "";
    if (nvml.call("nvmlSystemGetDriverVersion", static_cast<char*>(driver),
                  static_cast<unsigned>(sizeof driver - 1)) == 0)
        say(out, "driver", driver);
    ConfidentialState state{};
    if (nvml.call("nvmlSystemGetConfComputeState", &state) == 0) {
        say(out, "confidential", state.feature);
        say(out, "devtools", state.devtools);
    }
    unsigned count = 0;
    nvml.call("nvmlDeviceGetCount_v2", &count);
    for (unsigned i = 0; i < count; ++i) {
        Device device = nullptr;
        if (nvml.call("nvmlDeviceGetHandleByIndex_v2", i, &device) == 0) describe(nvml, device, out);
    }
    say(out, "done", "");
}

void take(NvmlFacts& facts, const std::string& key, const std::string& value) {
    const unsigned number = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
    if (key == "problem") facts.problem = value;
    if (key == "driver") facts.driver = value;
    if (key == "confidential") facts.confidential = number == 1;
    if (key == "devtools") facts.confidential_devtools = number == 1;
    if (key == "device") facts.devices.push_back({}), facts.devices.back().name = value;
    if (facts.devices.empty()) return;
    NvmlDevice& device = facts.devices.back();
    const std::map<std::string, std::optional<unsigned>*> numbers = {
        {"capability", &device.capability},
        {"virtualization", &device.virtualization},
        {"compute_mode", &device.compute_mode},
        {"sm", &device.sm_mhz},
        {"sm_max", &device.sm_max_mhz},
        {"applications", &device.applications_mhz},
        {"default_applications", &device.default_applications_mhz}};
    const std::map<std::string, std::optional<bool>*> switches = {{"persistence", &device.persistence},
                                                                  {"mig", &device.mig},
                                                                  {"ecc", &device.ecc},
                                                                  {"auto_boost", &device.auto_boost}};
    if (const auto found = numbers.find(key); found != numbers.end()) *found->second = number;
    if (const auto found = switches.find(key); found != switches.end()) *found->second = number == 1;
    if (key == "throttle") device.throttle_reasons = std::strtoull(value.c_str(), nullptr, 10);
}

}  // namespace

NvmlFacts probe_nvml(const std::string& library, int limit_ms) {
    const Answer answer = ask_child([&library](int out) { ask(library, out); }, limit_ms);
    NvmlFacts facts;
    bool done = false;
    each_line(answer.text, [&](const std::string& key, const std::string& value) {
        done = done || key == "done";
        take(facts, key, value);
    });
    if (!done && facts.problem.empty())
        facts.problem = answer.timed_out ? "NVML did not answer in time" : "NVML crashed while it was asked";
    return facts;
}

}  // namespace attnscope::doctor
