#pragma once
// Asks the launcher, which runs beside the program, for a config image: CUPTI's host API is too large and too
// easily crashed for the program's own process. Files of include/attnscope/counter_files.h; no lock of ours
// is held meanwhile, and no CUDA call is made.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cupti_api.h"

namespace attnscope::collector {

/// What the launcher made for one chip, one CUPTI and one availability image.
struct CounterConfig {
    std::string key;
    uint32_t passes = 0;
    std::vector<char> names;           ///< each ended by a zero byte
    std::vector<const char*> metrics;  ///< into `names`
    std::vector<uint8_t> image;
};

struct ConfigQuestion {
    std::string folder;  ///< <run>/counters
    std::string chip;    ///< "GH100"
    uint32_t cupti_version = 0;
    std::string library;  ///< the libcupti in this process
    std::vector<uint8_t> availability;
    uint32_t wait_ms = 0;
};

/// nullptr when there is none; `failure` then says why: the launcher's own diagnostic,
/// "counters-launcher-gone" or "counters-no-config".
std::shared_ptr<const CounterConfig> request_config(const ConfigQuestion& question, CuptiFailure& failure);

/// The content of a `.config` file; nullptr and what is wrong with it when it cannot be used.
std::shared_ptr<CounterConfig> parse_config(std::string_view bytes, uint32_t cupti_version,
                                            std::string& fault);

}  // namespace attnscope::collector
