#pragma once
// Raw counter data of a process to values. CUPTI may crash on an image, so the images are evaluated in a
// child process; the image that killed one is a diagnostic, and the next child goes on behind it.
#include <cstdint>
#include <filesystem>

#include "host_api.h"

namespace attnscope::cupti_host {

struct Evaluation {
    uint64_t images = 0;    ///< evaluated
    uint64_t counters = 0;  ///< counter records written
    uint64_t unjoined = 0;  ///< ranges that belong to no launch
};

/// Writes `out` beside, then renames it. Throws Error when `data` is no counter data, or `out` cannot be
/// written.
Evaluation evaluate_file(const HostApi& api, const std::filesystem::path& data,
                         const std::filesystem::path& out);

}  // namespace attnscope::cupti_host
