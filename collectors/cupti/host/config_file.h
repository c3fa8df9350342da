#pragma once
// A config image with the metrics it collects: counter_files.h, "ConfigHeader".
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace attnscope::cupti_host {

struct ConfigFile {
    uint32_t cupti_version = 0, passes = 0;
    std::vector<std::string> metrics;
    std::string image;
};

std::string to_bytes(const ConfigFile& config);

/// Throws Error (`origin` names the file) for anything but a whole and undamaged config file. Reads no more
/// than the stream holds, whatever its header promises.
ConfigFile read_config(std::istream& in, const std::string& origin);

/// The chip of a config key ("GH100-130001-0badcafe"); empty when it is no key. A key is a file's name: one
/// with a slash is none.
std::string chip_of_key(const std::string& key);

}  // namespace attnscope::cupti_host
