// What makes times differ from run to run, and DRAM traffic from card to card. Nothing is ever changed.
#include <algorithm>

#include "checks.h"

namespace attnscope::doctor {
namespace {

// nvmlClocksEventReasons (nvml.h)
constexpr uint64_t kApplicationsClocks = 0x2, kPowerCap = 0x4, kHardwareSlowdown = 0x8,
                   kThermal = 0x20 | 0x40, kPowerBrake = 0x80;

std::string held_down(uint64_t reasons) {
    std::vector<std::string> words;
    if ((reasons & kPowerCap) != 0) words.emplace_back("the power limit");
    if ((reasons & kThermal) != 0) words.emplace_back("heat");
    if ((reasons & kPowerBrake) != 0) words.emplace_back("the power brake");
    if ((reasons & kHardwareSlowdown) != 0 && words.empty()) words.emplace_back("a hardware slowdown");
    return joined(words, " and ");
}

/// What is to be said of one device's clocks.
struct Clocks {
    State state;
    std::string seen;
    bool hot;  ///< its load or heat is in the way, too
    std::vector<std::string> devices;
};

Clocks clocks_of(const NvmlDevice& d) {
    const auto mhz = [](std::optional<unsigned> value) {
        return value ? std::to_string(*value) + " MHz" : std::string("unknown");
    };
    const std::string now = "SM clock " + mhz(d.sm_mhz) + " of at most " + mhz(d.sm_max_mhz);
    const uint64_t reasons = d.throttle_reasons.value_or(0);
    if (const std::string by = held_down(reasons); !by.empty())
        return {State::warn, now + ", held down by " + by, true, {}};
    if (d.auto_boost.value_or(false)) return {State::warn, now + ", auto boost is on: times vary", false, {}};
    if ((reasons & kApplicationsClocks) != 0 || (d.applications_mhz && d.default_applications_mhz &&
                                                 *d.applications_mhz != *d.default_applications_mhz))
        return {State::ok, now + ", set by applications clocks (" + mhz(d.applications_mhz) + ')', false, {}};
    // NVML has no question for locked clocks.
    return {State::unknown, now + "; NVML does not tell whether they are locked", false, {}};
}

/// Devices of which an answer is on, off, unknown: "on", "off", "on for devices 0, 2".
std::string which(const Examined& e, std::optional<bool> NvmlDevice::*member, bool value) {
    std::vector<std::string> found;
    for (size_t i = 0; i < e.nvml.devices.size(); ++i)
        if (e.nvml.devices[i].*member == value) found.push_back(std::to_string(i));
    if (found.empty()) return {};
    return found.size() == e.nvml.devices.size() ? "every device" : "device " + joined(found);
}

}  // namespace

void check_clocks(const Examined& e, std::vector<Finding>& out) {
    std::vector<Clocks> all;  // devices of which the same is to be said, together
    for (size_t i = 0; i < e.nvml.devices.size(); ++i) {
        const NvmlDevice& device = e.nvml.devices[i];
        if (!device.sm_mhz && !device.sm_max_mhz) continue;
        Clocks one = clocks_of(device);
        const auto same = std::find_if(all.begin(), all.end(), [&](const Clocks& other) {
            return other.state == one.state && other.seen == one.seen;
        });
        (same == all.end() ? all.emplace_back(std::move(one)) : *same).devices.push_back(std::to_string(i));
    }
    for (const Clocks& one : all) {
        const std::string lock = "for comparable times an administrator may lock the clocks: nvidia-smi -i " +
                                 joined(one.devices, ",") +
                                 " -lgc MHZ (a value that the GPU holds under load), and afterwards -rgc; "
                                 "this slows every user of "
                                 "the GPU, and attnscope never does it";
        const std::string label =
            e.nvml.devices.size() == 1
                ? ""
                : (one.devices.size() == 1 ? "device " : "devices ") + joined(one.devices) + ": ";
        out.push_back({"clocks",
                       one.state,
                       label + one.seen,
                       one.state == State::ok
                           ? ""
                           : (one.hot ? "let the GPU cool down or lower its load; " : "") + lock,
                       {}});
    }
}

void check_persistence(const Examined& e, std::vector<Finding>& out) {
    if (const std::string off = which(e, &NvmlDevice::persistence, false); !off.empty())
        out.push_back({"persistence mode",
                       State::warn,
                       "off for " + off + ": the driver starts anew with each program, and settings are lost",
                       "an administrator turns it on: nvidia-smi -pm 1 (or runs nvidia-persistenced)",
                       {}});
    else if (const std::string on = which(e, &NvmlDevice::persistence, true); !on.empty())
        out.push_back({"persistence mode", State::ok, "on for " + on, "", {}});
}

// https://docs.nvidia.com/deploy/nvidia-smi/: on GDDR memory ECC's own traffic takes bandwidth and capacity.
void check_ecc(const Examined& e, std::vector<Finding>& out) {
    std::vector<std::string> parts;
    if (const std::string on = which(e, &NvmlDevice::ecc, true); !on.empty()) parts.push_back("on for " + on);
    if (const std::string off = which(e, &NvmlDevice::ecc, false); !off.empty())
        parts.push_back("off for " + off);
    if (!parts.empty()) out.push_back({"ECC", State::ok, joined(parts), "", {}});
}

void check_nvml(const Examined& e, std::vector<Finding>& out) {
    if (!e.device_present || e.nvml.problem.empty()) return;
    out.push_back({"NVML",
                   State::unknown,
                   e.nvml.problem + ": clocks, MIG, vGPU, ECC and compute mode are unknown",
                   "run nvidia-smi to see what is wrong; in a container add the capability utility "
                   "(NVIDIA_DRIVER_CAPABILITIES=compute,utility)",
                   {}});
}

}  // namespace attnscope::doctor
