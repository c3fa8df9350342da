// The device, its driver and its architecture.
#include <algorithm>

#include "attnscope/gpu.h"
#include "checks.h"

namespace attnscope::doctor {
namespace {

const char* const kInstallDriver =
    "install NVIDIA's driver (580 or later for CUDA 13) and load its kernel module: modprobe nvidia";

/// What holds a device that has no NVIDIA driver.
Finding without_driver(const Examined& e) {
    const std::string holder = e.machine.link_target("/sys/bus/pci/devices/" + e.pci.front() + "/driver");
    Finding finding{"NVIDIA device", State::ok, counted(e.pci.size(), "NVIDIA device") + " on the PCI bus, ",
                    kInstallDriver, kRealGpu};
    if (holder == "vfio-pci") {
        finding.seen += "given away to a virtual machine (vfio-pci)";
        finding.remedy = "run attnscope inside that virtual machine, or bind the device to the nvidia driver";
    } else if (holder == "nouveau") {
        finding.seen += "driven by nouveau, which has no CUDA";
        finding.remedy = std::string("blacklist nouveau, then ") + kInstallDriver;
    } else if (holder == "nvidia") {
        finding.seen +=
            "bound to the nvidia driver, which does not show here (/proc/driver/nvidia is missing)";
        finding.remedy = "in a container, start it with --gpus all (NVIDIA Container Toolkit)";
    } else {
        finding.seen += holder.empty() ? "without a driver" : "driven by " + shown(holder);
        if (e.container)
            finding.remedy = "install the driver on the host and start the container with --gpus all";
    }
    return finding;
}

/// "4 x NVIDIA H100 80GB HBM3, Tesla T4".
std::string each_once(const std::vector<std::string>& names) {
    std::vector<std::pair<std::string, size_t>> counts;
    for (const std::string& name : names) {
        const auto known =
            std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == name; });
        if (known == counts.end())
            counts.emplace_back(name, 1);
        else
            ++known->second;
    }
    std::vector<std::string> texts;
    for (const auto& [name, count] : counts)
        texts.push_back((count == 1 ? "" : std::to_string(count) + " x ") + shown(name));
    return joined(texts);
}

}  // namespace

void check_device(const Examined& e, std::vector<Finding>& out) {
    const std::string check = "NVIDIA device";
    if (!e.device_present) {
        out.push_back({check, State::ok, "none: nothing on the PCI bus, no /dev/nvidia*, no kernel module",
                       "for counters and kernel records run attnscope on a machine with an NVIDIA GPU" +
                           std::string(e.container ? " (in a container: start it with --gpus all)" : "") +
                           "; prediction needs none: --device virtual:H100-SXM5",
                       kRealGpu});
    } else if (!e.driver.gpu.usable && !e.module && !e.wsl && e.nodes.empty()) {
        out.push_back(without_driver(e));
    } else if (!e.driver.gpu.usable && e.nodes.empty() && !e.wsl) {
        out.push_back({check, State::ok, "the kernel module is loaded, but there is no /dev/nvidia0",
                       e.container ? "start the container with --gpus all (NVIDIA Container Toolkit)"
                                   : "create the device files: nvidia-modprobe -u -c 0, or run nvidia-smi as "
                                     "root; where there are none, lspci tells whether a GPU is there at all",
                       kRealGpu});
    } else {
        const std::vector<std::string> names = e.names();
        out.push_back({check,
                       State::ok,
                       names.empty() ? counted(std::max(e.nodes.size(), size_t{1}), "device")
                                     : counted(names.size(), "device") + ": " + each_once(names),
                       "",
                       {}});
    }
}

void check_driver(const Examined& e, std::vector<Finding>& out) {
    if (!e.device_present) return;
    const std::string check = "driver";
    const std::string version = e.driver_version.empty() ? "" : e.driver_version + ", ";
    if (e.driver.gpu.usable) {
        const unsigned cuda = e.driver.cuda.value_or(0);
        out.push_back({check,
                       State::ok,
                       version + (cuda == 0 ? "answers"
                                            : "serves CUDA up to " + std::to_string(cuda / 1000) + '.' +
                                                  std::to_string(cuda % 1000 / 10)),
                       "",
                       {}});
    } else if (e.machine.exists("/dev/nvidiactl") && !e.machine.writable("/dev/nvidiactl")) {
        out.push_back({check, State::ok,
                       version + "but this user may not open /dev/nvidiactl; " + e.driver.gpu.reason,
                       "let the user read and write /dev/nvidia*: add it to the group that owns them (ls -l "
                       "/dev/nvidiactl), or set NVreg_DeviceFileMode=0666 for the nvidia module",
                       kRealGpu});
    } else {
        out.push_back({check, State::ok, version + "not usable: " + e.driver.gpu.reason, e.driver.gpu.remedy,
                       kRealGpu});
    }

    // libcuda.so.580.65.06 beside another kernel module: CUDA's forward compatibility package.
    const size_t so = e.driver.library.rfind(".so.");
    const std::string library = so == std::string::npos ? "" : e.driver.library.substr(so + 4);
    if (library.find('.') != std::string::npos && !e.driver_version.empty() && library != e.driver_version)
        out.push_back(
            {"driver library", e.driver.gpu.usable ? State::warn : State::ok,
             "libcuda is " + shown(library) + ", the kernel module " + e.driver_version +
                 (e.driver.gpu.usable ? " (CUDA forward compatibility)" : ""),
             "reboot after a driver update; with a cuda-compat package, remove it or update the driver",
             e.driver.gpu.usable ? std::vector<Use>{} : kRealGpu});
}

// CUPTI's Range Profiler: compute capability 7.5 and later in CUDA 13.0 (CUPTI user guide); CUDA 13 itself
// dropped what is older (https://docs.nvidia.com/cuda/archive/13.0.0/cuda-toolkit-release-notes/);
// before, 7.0. SLI and CMP boards: CUpti_Profiler_DeviceSupported.
void check_architecture(const Examined& e, std::vector<Finding>& out) {
    const CuptiFacts* cupti = e.usable_cupti();
    const unsigned oldest = cupti != nullptr && *cupti->version < 130000 ? 70 : 75;
    std::vector<std::string> old, mining;
    for (const NvmlDevice& device : e.nvml.devices) {
        if (device.capability && *device.capability < oldest)
            old.push_back(shown(device.name) + " (" + std::to_string(*device.capability / 10) + '.' +
                          std::to_string(*device.capability % 10) + ')');
        else if (device.name.find(" CMP ") != std::string::npos)
            mining.push_back(shown(device.name));
    }
    const size_t without = old.size() + mining.size();
    const std::vector<Use> blocks =
        without == e.nvml.devices.size() ? std::vector<Use>{Use::counters} : std::vector<Use>{};
    const std::string other = blocks.empty() ? "choose another of the GPUs with CUDA_VISIBLE_DEVICES" : "";
    if (!old.empty())
        out.push_back({"architecture", State::warn, "too old for this CUPTI's counters: " + joined(old),
                       !other.empty() ? other
                       : oldest == 75
                           ? "use a GPU of compute capability 7.5 or later; for 7.0, CUPTI 12.6 to 12.9"
                           : "use a GPU of compute capability 7.0 or later",
                       blocks});
    if (!mining.empty())
        out.push_back({"architecture", State::warn, "mining boards have no counters: " + joined(mining),
                       !other.empty() ? other : "use another GPU", blocks});
}

}  // namespace attnscope::doctor
