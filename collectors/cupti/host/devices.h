#pragma once
#include <string>
#include <vector>

#include "host_api.h"

namespace attnscope::cupti_host {

struct FoundDevice {
    int device = 0;    ///< ordinal
    std::string name;  ///< as the driver names it
    std::string chip;  ///< as CUPTI names it; empty when CUPTI does not say
};

struct FoundDevices {
    std::vector<FoundDevice> devices;
    std::string why;  ///< why there are none, or why their chips are not known; may be empty
};

/// Asks the driver; never throws for want of one.
FoundDevices find_devices(const HostApi& api);

}  // namespace attnscope::cupti_host
