// Asks the machine once what several checks need.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>

#include "checks.h"

namespace attnscope::doctor {
namespace {

std::vector<std::string> pci_devices(const Machine& machine) {
    const std::string folder = "/sys/bus/pci/devices";
    std::vector<std::string> found;
    for (const std::string& address : machine.list(folder)) {
        const std::string vendor = machine.read(folder + '/' + address + "/vendor").value_or("");
        const std::string type = machine.read(folder + '/' + address + "/class").value_or("");
        // 0x03: display controllers, with and without outputs
        if (vendor.starts_with("0x10de") && type.starts_with("0x03")) found.push_back(address);
    }
    return found;
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu ..." and
/// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build ...".
std::string module_version(const std::string& text) {
    std::smatch match;
    static const std::regex version(R"(\s([0-9]{3,4}\.[0-9]+(\.[0-9]+)?)\s)");
    const std::string line = text.substr(0, std::min(text.find('\n'), size_t{500})) + ' ';
    return std::regex_search(line, match, version) ? match[1].str() : std::string();
}

bool in_wsl(const Machine& machine) {
    std::string version = machine.read("/proc/version").value_or("");
    std::transform(version.begin(), version.end(), version.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return version.find("microsoft") != std::string::npos || machine.exists("/dev/dxg");
}

bool in_container(const Machine& machine) {
    if (machine.exists("/.dockerenv") || machine.exists("/run/.containerenv") ||
        !machine.environment("container").empty() || !machine.environment("KUBERNETES_SERVICE_HOST").empty())
        return true;
    const std::string groups = machine.read("/proc/1/cgroup").value_or("");
    for (const char* word : {"docker", "kubepods", "containerd", "libpod", "lxc"})
        if (groups.find(word) != std::string::npos) return true;
    return false;
}

std::vector<CuptiFacts> find_cupti(const Machine& machine) {
    constexpr size_t kMost = 6;  // each is a process
    std::vector<CuptiFacts> found;
    for (const std::string& file : machine.cupti_places()) {
        const bool by_loader = file.find('/') == std::string::npos;
        if (found.size() >= kMost) break;
        const CuptiFacts facts = machine.cupti(file);
        if (by_loader && !facts.problem.empty()) continue;  // the loader knows none
        if (std::none_of(found.begin(), found.end(),
                         [&](const CuptiFacts& other) { return other.path == facts.path; }))
            found.push_back(facts);
    }
    return found;
}

}  // namespace

Examined examine(const Machine& machine, const Request& request) {
    Examined e{machine, request, {}, {}, false, false, false, false, {}, {}, {}, {}};
    e.pci = pci_devices(machine);
    for (const std::string& name : machine.list("/dev"))
        if (starts_with_digit_after(name, "nvidia")) e.nodes.push_back("/dev/" + name);
    const auto version = machine.read("/proc/driver/nvidia/version");
    e.module = version.has_value() || machine.exists("/dev/nvidiactl");
    e.wsl = in_wsl(machine);
    e.container = in_container(machine);
    e.driver = machine.driver();
    e.nvml = machine.nvml();
    e.driver_version = module_version(version.value_or(""));
    if (e.driver_version.empty()) e.driver_version = e.nvml.driver;
    const bool wsl_gpu = e.wsl && machine.exists("/usr/lib/wsl/lib/libcuda.so.1");
    e.device_present = !e.pci.empty() || !e.nodes.empty() || e.module || wsl_gpu || e.driver.gpu.usable;
    e.cupti = find_cupti(machine);
    return e;
}

int Examined::driver_branch() const {
    return std::atoi(driver_version.c_str());
}

const CuptiFacts* Examined::usable_cupti() const {
    for (const CuptiFacts& each : cupti)
        if (each.version) return &each;
    return nullptr;
}

std::vector<std::string> Examined::names() const {
    if (!driver.gpu.names.empty()) return driver.gpu.names;
    std::vector<std::string> out;
    for (const NvmlDevice& device : nvml.devices) out.push_back(device.name);
    return out;
}

std::string shown(std::string_view text, size_t most) {
    return text.size() <= most ? std::string(text) : std::string(text.substr(0, most)) + "...";
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
    return text;
}

std::string counted(size_t count, const std::string& noun) {
    return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

bool starts_with_digit_after(std::string_view text, std::string_view prefix) {
    return text.size() > prefix.size() && text.starts_with(prefix) &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(prefix.size()), text.end(),
                       [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace attnscope::doctor
