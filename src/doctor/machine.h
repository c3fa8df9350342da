#pragma once
// All that the checks see of a machine, so that tests can present any.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../launch/real_gpu.h"

namespace attnscope::doctor {

/// What the driver's library says.
struct DriverFacts {
    launch::RealGpu gpu;
    std::string library;           ///< the file of libcuda.so.1; empty when it cannot be loaded
    std::optional<unsigned> cuda;  ///< cuDriverGetVersion: 13000
};

/// A device as NVML describes it; what NVML did not answer is nullopt.
struct NvmlDevice {
    std::string name;
    std::optional<unsigned> capability;  ///< 90 for 9.0
    std::optional<bool> persistence, mig, ecc, auto_boost;
    std::optional<unsigned>
        virtualization;                    ///< nvmlGpuVirtualizationMode_t: 0 none, 1 passed through, 2 vGPU
    std::optional<unsigned> compute_mode;  ///< nvmlComputeMode_t: 0 default, 2 prohibited, 3 one process
    std::optional<unsigned> sm_mhz, sm_max_mhz, applications_mhz, default_applications_mhz;
    std::optional<uint64_t> throttle_reasons;  ///< nvmlClocksEventReasons
};

struct NvmlFacts {
    std::string problem;  ///< why NVML did not answer, a sentence; empty when it did
    std::string driver;   ///< "580.65.06"
    std::optional<bool> confidential, confidential_devtools;
    std::vector<NvmlDevice> devices;
};

struct CuptiFacts {
    std::string path;                 ///< the file, as the loader found it
    std::string problem;              ///< why it could not be loaded; empty when it was
    std::optional<uint32_t> version;  ///< cuptiGetVersion: 24 for 12.6, 130001 for 13.0 Update 1
};

/// The default metrics, planned for one chip.
struct PlanFacts {
    std::string problem;  ///< why nothing could be planned; empty when it was
    std::vector<std::string> metrics;
    std::vector<std::pair<std::string, std::string>> absent;  ///< role or name, reason
    size_t passes = 0;
};

/// attnscope's own files.
struct Installation {
    std::string folder;   ///< .../lib/attnscope
    std::string problem;  ///< what is wrong with the injection library; empty when nothing is
};

class Machine {
  public:
    virtual ~Machine() = default;

    // Files. Paths are absolute, as the machine itself would name them.
    virtual std::optional<std::string> read(const std::string& path) const = 0;  ///< at most 64 KiB
    virtual std::vector<std::string> list(const std::string& folder) const = 0;  ///< names, sorted
    virtual bool exists(const std::string& path) const = 0;
    virtual bool writable(const std::string& path) const = 0;
    virtual std::string link_target(
        const std::string& path) const = 0;  ///< its last part; "" when it is no link
    virtual std::optional<uint64_t> free_bytes(const std::string& folder) const = 0;

    // This process.
    virtual std::string environment(const std::string& name) const = 0;  ///< "" when it is not set
    virtual std::string working_folder() const = 0;
    virtual Installation installation() const = 0;

    /// Where libcupti may lie: files that are there, and sonames for the loader; the preferred first.
    virtual std::vector<std::string> cupti_places() const = 0;

    // Probes, each in a process of its own.
    virtual DriverFacts driver() const = 0;
    virtual NvmlFacts nvml() const = 0;
    virtual CuptiFacts cupti(const std::string& file_or_soname) const = 0;
    /// CUPTI's names of the usable devices' chips ("GH100"); empty where nothing tells.
    virtual std::vector<std::string> chips(const std::string& libcupti) const = 0;
    virtual PlanFacts plan(const std::string& libcupti, const std::string& chip) const = 0;
    /// Why the program cannot run on the virtual GPU (or, with a GPU, cannot be started); "" when it can.
    virtual std::string program_problem(const std::vector<std::string>& command, bool on_virtual) const = 0;
};

}  // namespace attnscope::doctor
