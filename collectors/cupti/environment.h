#pragma once
// What the run says of the process, its libraries and its devices. Nothing here runs before cuInit has
// returned but describe_process.
#include <cstdint>
#include <set>
#include <string>

namespace attnscope::collector {

/// As CUDA prints them, 13000; 0 when not known.
struct CudaVersions {
    int driver = 0, runtime = 0;
};

struct ProcessFacts {
    std::string host;
    uint64_t start_unix_ns = 0;
    bool virtual_ground = false;
    uint32_t cupti = 0;
    bool counters = false;  ///< a counters collection
};

/// The host's name, made fit for a file name.
std::string host_name();

/// The `process` line. Secrets in the command line are replaced.
std::string describe_process(const ProcessFacts& facts, CudaVersions versions);

/// Asks the libraries that are in the process; neither function initialises CUDA.
CudaVersions ask_versions();

/// `library` lines of those that were not yet named in `told`.
std::string describe_libraries(std::set<std::string>& told);

/// `device` lines. `device_id` names virtual devices, nullptr on a real GPU. Empty when the driver does not
/// answer.
std::string describe_devices(const char* (*device_id)(int32_t));

}  // namespace attnscope::collector
