#pragma once
// The checks and what they share. A check is one function and one line in the table of diagnose.cpp.
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/doctor.h"
#include "machine.h"

namespace attnscope::doctor {

/// What more than one check asks for, asked once.
struct Examined {
    const Machine& machine;
    const Request& request;
    std::vector<std::string> pci;    ///< NVIDIA's display devices on the PCI bus: addresses
    std::vector<std::string> nodes;  ///< "/dev/nvidia0", ...
    bool module = false;             ///< the kernel module is loaded
    bool wsl = false, container = false;
    bool device_present = false;
    std::string driver_version;  ///< "580.65.06"; empty when unknown
    DriverFacts driver;
    NvmlFacts nvml;
    std::vector<CuptiFacts> cupti;  ///< those that were found, in the order of preference

    int driver_branch() const;               ///< 580; 0 when unknown
    const CuptiFacts* usable_cupti() const;  ///< the first that loads; nullptr: none
    std::vector<std::string> names() const;  ///< of the devices, as far as anything names them
};

Examined examine(const Machine& machine, const Request& request);

/// Adds findings; adds none where the question does not arise.
using Check = void (*)(const Examined&, std::vector<Finding>&);

void check_device(const Examined&, std::vector<Finding>&);
void check_driver(const Examined&, std::vector<Finding>&);
void check_architecture(const Examined&, std::vector<Finding>&);
void check_cupti(const Examined&, std::vector<Finding>&);
void check_versions(const Examined&, std::vector<Finding>&);
void check_permission(const Examined&, std::vector<Finding>&);
void check_injection_door(const Examined&, std::vector<Finding>&);
void check_other_profilers(const Examined&, std::vector<Finding>&);
void check_mps(const Examined&, std::vector<Finding>&);
void check_mig(const Examined&, std::vector<Finding>&);
void check_virtualization(const Examined&, std::vector<Finding>&);
void check_wsl(const Examined&, std::vector<Finding>&);
void check_confidential(const Examined&, std::vector<Finding>&);
void check_compute_mode(const Examined&, std::vector<Finding>&);
void check_clocks(const Examined&, std::vector<Finding>&);
void check_persistence(const Examined&, std::vector<Finding>&);
void check_ecc(const Examined&, std::vector<Finding>&);
void check_nvml(const Examined&, std::vector<Finding>&);
void check_installation(const Examined&, std::vector<Finding>&);
void check_virtual_gpu(const Examined&, std::vector<Finding>&);
void check_workload(const Examined&, std::vector<Finding>&);
void check_proc(const Examined&, std::vector<Finding>&);
void check_disk(const Examined&, std::vector<Finding>&);
void check_program(const Examined&, std::vector<Finding>&);
void check_plan(const Examined&, std::vector<Finding>&);

Diagnosis diagnose(const Machine& machine, const Request& request);

inline const std::vector<Use> kRealGpu = {Use::records, Use::counters};
inline const std::vector<Use> kEverything = {Use::prediction, Use::records, Use::counters};

/// A text of the machine's in a sentence: cut where it is long.
std::string shown(std::string_view text, size_t most = 160);
std::string joined(const std::vector<std::string>& parts, const char* between = ", ");
std::string counted(size_t count, const std::string& noun);  ///< "2 devices", "1 device"
/// "12.6" for 24, "13.0 Update 1" for 130001; "older than 12.6 (version 22)".
std::string cuda_of_cupti(uint32_t version);
bool starts_with_digit_after(std::string_view text, std::string_view prefix);  ///< "nvidia0" after "nvidia"

}  // namespace attnscope::doctor
