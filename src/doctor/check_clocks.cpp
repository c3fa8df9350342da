// What makes times differ from run to run, and DRAM traffic from card to card. Nothing is ever changed.
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

std::string label(const Examined& e, size_t i) {
    return e.nvml.devices.size() == 1 ? std::string() : "device " + std::to_string(i) + ": ";
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
    for (size_t i = 0; i < e.nvml.devices.size(); ++i) {
        const NvmlDevice& d = e.nvml.devices[i];
        if (!d.sm_mhz && !d.sm_max_mhz) continue;
        const auto mhz = [](std::optional<unsigned> value) {
            return value ? std::to_string(*value) + " MHz" : std::string("unknown");
        };
        const std::string now =
            label(e, i) + "SM clock " + mhz(d.sm_mhz) + " of at most " + mhz(d.sm_max_mhz);
        const uint64_t reasons = d.throttle_reasons.value_or(0);
        const std::string lock = "for comparable times an administrator may lock the clocks: nvidia-smi -i " +
                                 std::to_string(i) +
                                 " -lgc MHZ (a value that the GPU holds under load), and afterwards -rgc; "
                                 "this slows every user of the "
                                 "GPU, and attnscope never does it";
        if (const std::string by = held_down(reasons); !by.empty())
            out.push_back({"clocks",
                           State::warn,
                           now + ", held down by " + by,
                           "let the GPU cool down or lower its load; " + lock,
                           {}});
        else if (d.auto_boost.value_or(false))
            out.push_back({"clocks", State::warn, now + ", auto boost is on: times vary", lock, {}});
        else if ((reasons & kApplicationsClocks) != 0 || (d.applications_mhz && d.default_applications_mhz &&
                                                          *d.applications_mhz != *d.default_applications_mhz))
            out.push_back({"clocks",
                           State::ok,
                           now + ", set by applications clocks (" + mhz(d.applications_mhz) + ')',
                           "",
                           {}});
        else
            // NVML has no question for locked clocks.
            out.push_back(
                {"clocks", State::unknown, now + "; NVML does not tell whether they are locked", lock, {}});
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
