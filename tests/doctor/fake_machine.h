#pragma once
// Any machine: files in a folder of its own, everything else as the test says.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "../../src/doctor/checks.h"
#include "../../src/doctor/host_machine.h"

namespace attnscope::doctor::test {

namespace fs = std::filesystem;

class FakeMachine : public HostMachine {
  public:
    FakeMachine() : FakeMachine(fresh_folder()) {}
    ~FakeMachine() override {
        std::error_code ignored;
        fs::remove_all(root, ignored);
    }
    FakeMachine(const FakeMachine&) = delete;
    FakeMachine& operator=(const FakeMachine&) = delete;

    FakeMachine& file(const std::string& path, const std::string& text = "") {
        const fs::path at = root / fs::path(path).relative_path();
        fs::create_directories(at.parent_path());
        std::ofstream(at, std::ios::binary) << text;
        return *this;
    }
    FakeMachine& link(const std::string& path, const std::string& target) {
        const fs::path at = root / fs::path(path).relative_path();
        fs::create_directories(at.parent_path());
        fs::create_symlink(target, at);
        return *this;
    }
    FakeMachine& without(const std::string& path) {
        fs::remove_all(root / fs::path(path).relative_path());
        return *this;
    }
    FakeMachine& process(int id, const std::string& name) {
        return file("/proc/" + std::to_string(id) + "/comm",
                    name.substr(0, 15) + "\n");  // as the kernel cuts it
    }

    fs::path root;
    std::map<std::string, std::string> variables;
    DriverFacts driver_facts;
    NvmlFacts nvml_facts;
    std::vector<CuptiFacts> cupti_found;
    std::map<std::string, PlanFacts> plans;  ///< by chip
    std::vector<std::string> chip_names;
    std::string installation_problem, cannot_start, not_virtual;
    std::optional<uint64_t> space = uint64_t{100} << 30;
    std::vector<std::string> unwritable;

    bool writable(const std::string& path) const override {
        return std::find(unwritable.begin(), unwritable.end(), path) ==
               unwritable.end();  // tests run as root
    }
    std::optional<uint64_t> free_bytes(const std::string&) const override { return space; }
    std::string environment(const std::string& name) const override {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
    }
    std::string working_folder() const override { return "/home/user"; }
    Installation installation() const override {
        return {"/opt/attnscope/lib/attnscope", installation_problem};
    }
    DriverFacts driver() const override { return driver_facts; }
    NvmlFacts nvml() const override { return nvml_facts; }
    std::vector<std::string> cupti_places() const override {
        std::vector<std::string> places;
        for (const CuptiFacts& each : cupti_found) places.push_back(each.path);
        return places;
    }
    CuptiFacts cupti(const std::string& file) const override {
        for (const CuptiFacts& each : cupti_found)
            if (each.path == file) return each;
        return {file, "no such library", {}};
    }
    std::vector<std::string> chips(const std::string&) const override { return chip_names; }
    PlanFacts plan(const std::string&, const std::string& chip) const override {
        const auto found = plans.find(chip);
        return found == plans.end() ? PlanFacts{"no plan for " + chip, {}, {}, 0} : found->second;
    }
    std::string program_problem(const std::vector<std::string>&, bool on_virtual) const override {
        return on_virtual ? not_virtual : cannot_start;
    }

  private:
    explicit FakeMachine(const fs::path& folder) : HostMachine(folder), root(folder) {}

    static fs::path fresh_folder() {
        static int count = 0;
        const fs::path folder = fs::temp_directory_path() / ("attnscope-doctor-" + std::to_string(getpid()) +
                                                             '-' + std::to_string(count++));
        fs::create_directories(folder);
        return folder;
    }
};

inline launch::RealGpu usable(std::vector<std::string> names) {
    launch::RealGpu gpu;
    gpu.device_present = gpu.usable = true;
    gpu.names = std::move(names);
    return gpu;
}
inline launch::RealGpu unusable(const std::string& reason, const std::string& remedy) {
    launch::RealGpu gpu;
    gpu.device_present = true;
    gpu.reason = reason;
    gpu.remedy = remedy;
    return gpu;
}

constexpr const char* kRootRights =
    "Name:\tattnscope\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nCapAmb:\t0000000000000000\n";
constexpr const char* kUserRights =
    "Name:\tattnscope\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\n";
/// What Docker gives root by default (capabilities(7) numbers: neither 21 nor 38).
constexpr const char* kDockerRights =
    "Name:\tattnscope\nUid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\nCapAmb:\t0000000000000000\n";

/// A laptop: no NVIDIA device, attnscope whole.
inline void make_laptop(FakeMachine& m) {
    m.file("/proc/self/status", kUserRights).file("/proc/self/uid_map", "         0          0 4294967295\n");
    m.file("/proc/version", "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)\n");
    m.file("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n")
        .file("/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
    for (const char* library :
         {"libattnscope_vgpu.so", "libcuda.so.1", "libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13",
          "libcudnn.so.9", "libcupti.so.13", "libnvrtc.so.13", "libcufft.so.12", "libcufile.so.0",
          "libcurand.so.10", "libcusolver.so.12", "libcusparse.so.12", "libcusparseLt.so.0", "libnccl.so.2",
          "libnvshmem_host.so.3"})
        m.file(std::string("/opt/attnscope/lib/attnscope/virtual_gpu/") + library);
    m.file("/opt/attnscope/bin/attention_workload");
    m.driver_facts.gpu.reason = "libcuda.so.1 is not there";
    m.driver_facts.gpu.remedy = "install the NVIDIA driver; in a container, start it with --gpus all";
    m.nvml_facts.problem = "libnvidia-ml.so.1 is not there";
}

/// CUPTI as the toolkit has it.
inline void add_cupti(FakeMachine& m, uint32_t version) {
    const std::string soname = version < 130000 ? "libcupti.so.12" : "libcupti.so.13";
    const std::string file = "/usr/local/cuda/lib64/" + soname;
    m.file(file)
        .file("/usr/local/cuda/lib64/libnvperf_host.so")
        .file("/usr/local/cuda/lib64/libnvperf_target.so");
    m.cupti_found = {{file, "", version}};
    m.plans["GH100"] = {
        "", {"sm__warps_active.avg.pct_of_peak_sustained_active", "gpu__time_duration.sum"}, {}, 1};
}

inline void set_driver(FakeMachine& m, const std::string& version, unsigned cuda) {
    m.file("/proc/driver/nvidia/version",
           "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " + version +
               "  Release Build  (root@host)  Thu Jul 11 12:00:00 UTC 2025\nGCC "
               "version:  gcc version 12.3.0 (Ubuntu 12.3.0)\n");
    m.driver_facts.library = "/usr/lib/x86_64-linux-gnu/libcuda.so." + version;
    m.driver_facts.cuda = cuda;
    m.nvml_facts.driver = version;
}

/// A server with one H100 on which counters can be collected: root, driver 580, CUPTI 13.0 Update 1.
inline void make_h100(FakeMachine& m) {
    make_laptop(m);
    m.file("/proc/self/status", kRootRights);
    m.file("/sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n")
        .file("/sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n")
        .link("/sys/bus/pci/devices/0000:3b:00.0/driver", "../../../bus/pci/drivers/nvidia");
    m.file("/dev/nvidia0").file("/dev/nvidiactl").file("/dev/nvidia-uvm");
    m.file("/proc/driver/nvidia/params",
           "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nEnableMSI: 1\n");
    m.nvml_facts.problem.clear();
    set_driver(m, "580.65.06", 13000);
    m.driver_facts.gpu = usable({"NVIDIA H100 80GB HBM3"});
    NvmlDevice device;
    device.name = "NVIDIA H100 80GB HBM3";
    device.capability = 90;
    device.persistence = device.ecc = true;
    device.mig = false;
    device.virtualization = device.compute_mode = 0;
    device.sm_mhz = device.sm_max_mhz = device.applications_mhz = device.default_applications_mhz = 1980;
    device.throttle_reasons = 0;
    m.nvml_facts.devices = {device};
    m.nvml_facts.confidential = false;
    add_cupti(m, 130001);
}

}  // namespace attnscope::doctor::test
