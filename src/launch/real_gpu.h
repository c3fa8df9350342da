#pragma once
#include <string>
#include <vector>

namespace attnscope::launch {

struct RealGpu {
    bool device_present = false;     ///< an NVIDIA display device or its driver's files are on this machine
    bool usable = false;             ///< cuInit succeeded and sees at least one device
    std::string reason;              ///< why not usable, a sentence without its full stop
    std::string remedy;              ///< what to do about it
    std::vector<std::string> names;  ///< of the usable devices
    /// As CUPTI names them ("GH100"), in the order of `names`; "" where our table does not know the device.
    std::vector<std::string> chips;
};

/// Asks the driver in a child process, so that nothing of CUDA comes into this one.
RealGpu look_for_real_gpu();

}  // namespace attnscope::launch
