// Ways of sharing or fencing a GPU. What works where, for the Range Profiler of CUDA 13.0: CUPTI release
// notes (known issues), CUPTI user guide, and the error codes of cupti_result.h named below.
#include "checks.h"

namespace attnscope::doctor {
namespace {

constexpr unsigned kVgpu = 2, kHostVgpu = 3, kHostVsga = 4;  // nvmlGpuVirtualizationMode_t
constexpr unsigned kProhibited = 2, kOneProcess = 3;         // nvmlComputeMode_t

/// The names of the devices of which `is` holds.
template <class Predicate>
std::vector<std::string> devices_where(const Examined& e, Predicate is) {
    std::vector<std::string> found;
    for (size_t i = 0; i < e.nvml.devices.size(); ++i)
        if (is(e.nvml.devices[i]))
            found.push_back(std::to_string(i) + " (" + shown(e.nvml.devices[i].name) + ')');
    return found;
}

std::string device_word(const std::vector<std::string>& found) {
    return (found.size() == 1 ? "device " : "devices ") + joined(found);
}

}  // namespace

void check_mig(const Examined& e, std::vector<Finding>& out) {
    const auto found = devices_where(e, [](const NvmlDevice& d) { return d.mig.value_or(false); });
    if (found.empty()) return;
    out.push_back(
        {"MIG",
         State::warn,
         "MIG is on: " + device_word(found) +
             "; counters work inside a compute instance, serialised with its neighbours, and may be barred "
             "(error 43)",
         "see that CUDA_VISIBLE_DEVICES names a MIG instance (nvidia-smi -L); for whole-GPU figures an "
         "administrator turns MIG off: nvidia-smi -mig 0 (this ends all work on the GPU)",
         {}});
}

void check_virtualization(const Examined& e, std::vector<Finding>& out) {
    if (const auto found = devices_where(e, [](const NvmlDevice& d) { return d.virtualization == kVgpu; });
        !found.empty())
        out.push_back(
            {"vGPU",
             State::unknown,
             "NVIDIA vGPU: " + device_word(found) +
                 "; counters need a licence and profiling enabled by the host (errors 33 and 40 otherwise)",
             "ask the host's administrator to enable profiling for this vGPU (the plugin's "
             "enable_profiling=1); kernel records work without",
             {}});
    if (const auto found = devices_where(e,
                                         [](const NvmlDevice& d) {
                                             return d.virtualization == kHostVgpu ||
                                                    d.virtualization == kHostVsga;
                                         });
        !found.empty())
        out.push_back({"vGPU", State::warn, "this host shares its GPU out as vGPUs: " + device_word(found),
                       "run attnscope inside the virtual machine, or give the GPU back to the host",
                       kRealGpu});
}

void check_wsl(const Examined& e, std::vector<Finding>& out) {
    if (!e.wsl || !e.device_present) return;
    constexpr int kOldestDriver = 525;
    if (e.driver_branch() != 0 && e.driver_branch() < kOldestDriver)
        return out.push_back({"WSL",
                              State::ok,
                              "driver " + e.driver_version + " has no counters under WSL (error 45)",
                              "update the Windows driver to 525 or later",
                              {Use::counters}});
    out.push_back(
        {"WSL",
         State::unknown,
         "Windows decides who may read counters; WSL 2 has them from driver 525 on, with limits on old "
         "Windows",
         "in the NVIDIA Control Panel of Windows, as administrator: Desktop > Enable Developer Settings, "
         "Manage GPU Performance Counters > Allow access to all users; then wsl --shutdown",
         {}});
}

void check_confidential(const Examined& e, std::vector<Finding>& out) {
    if (!e.nvml.confidential.value_or(false)) return;
    const bool devtools = e.nvml.confidential_devtools.value_or(false);
    out.push_back({"confidential computing", State::ok,
                   devtools
                       ? "confidential computing is on in devtools mode: kernel records alone, no counters "
                         "(error 41)"
                       : "confidential computing is on: neither counters (error 41) nor kernel records",
                   devtools ? "measure on a machine with confidential computing off"
                            : "measure on a machine with it off; devtools mode allows kernel records",
                   devtools ? std::vector<Use>{Use::counters} : kRealGpu});
}

void check_compute_mode(const Examined& e, std::vector<Finding>& out) {
    if (const auto found =
            devices_where(e, [](const NvmlDevice& d) { return d.compute_mode == kProhibited; });
        !found.empty())
        out.push_back({"compute mode", State::warn,
                       "prohibited on " + device_word(found) + ": no program can use it",
                       "an administrator sets it back: nvidia-smi -c 0, or choose another device with "
                       "CUDA_VISIBLE_DEVICES",
                       found.size() == e.nvml.devices.size() ? kRealGpu : std::vector<Use>{}});
    if (const auto found =
            devices_where(e, [](const NvmlDevice& d) { return d.compute_mode == kOneProcess; });
        !found.empty())
        out.push_back({"compute mode",
                       State::warn,
                       "one process at a time on " + device_word(found) + ": a second one is refused",
                       "see with nvidia-smi that no other process uses the GPU",
                       {}});
}

}  // namespace attnscope::doctor
