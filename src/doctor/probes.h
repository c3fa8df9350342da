#pragma once
// NVIDIA's libraries, each asked in a child process. `library` is a file or a soname.
#include <string>

#include "machine.h"

namespace attnscope::doctor {

DriverFacts probe_driver(const std::string& library = "libcuda.so.1");
NvmlFacts probe_nvml(const std::string& library = "libnvidia-ml.so.1", int limit_ms = 30000);
CuptiFacts probe_cupti(const std::string& library, int limit_ms = 20000);

/// The file that a loaded library came from, links followed; "" when it is not known. For use in the child.
std::string file_of(void* library);

}  // namespace attnscope::doctor
