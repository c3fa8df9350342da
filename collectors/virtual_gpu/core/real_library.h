#pragma once
// Where NVIDIA's own libraries may lie, for the two stand-ins that pass calls through to them (CUPTI's host
// API, NVRTC).
#include <link.h>

#include <cstdlib>
#include <string>

namespace attnscope::vgpu {

/// Empty when it is not set.
inline std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// The folder that the wheels of NVIDIA's libraries use, next to a loaded LibTorch; empty when none is
/// loaded.
inline std::string wheel_folder() {
    std::string folder;
    const auto look = [](dl_phdr_info* info, size_t, void* out) {
        const std::string path = info->dlpi_name ? info->dlpi_name : "";
        const size_t torch = path.rfind("/torch/lib/");
        if (torch == std::string::npos) return 0;
        *static_cast<std::string*>(out) = path.substr(0, torch) + "/nvidia/cu13/lib";
        return 1;
    };
    dl_iterate_phdr(look, &folder);
    return folder;
}

/// Where scripts/setup.sh puts them.
inline std::string cache_folder() {
    std::string cache = environment("ATTNSCOPE_CACHE");
    if (cache.empty()) {
        cache = environment("XDG_CACHE_HOME");
        if (cache.empty()) cache = environment("HOME") + "/.cache";
        cache += "/attnscope";
    }
    return cache + "/cuda/nvidia/cu13/lib";
}

}  // namespace attnscope::vgpu
