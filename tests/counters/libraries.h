#pragma once
// Where the tests find a real libcupti: the toolkit that the build names, else as the product looks for it;
// and CUPTI 12.8 in the cache of scripts/setup.sh.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "find_cupti.h"

namespace attnscope {

inline std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

inline std::string cupti_13() {
    for (const char* folder : {"/lib", "/lib64", "/extras/CUPTI/lib64"}) {
        const std::string file = environment("ATTNSCOPE_CUDA_ROOT") + folder + "/libcupti.so.13";
        if (std::filesystem::exists(file)) return file;
    }
    return counters::find_cupti();
}

inline std::string cupti_12() {
    std::string cache = environment("ATTNSCOPE_CACHE");
    if (cache.empty()) cache = environment("HOME") + "/.cache/attnscope";
    const std::string file = cache + "/cuda-12.8/nvidia/cuda_cupti/lib/libcupti.so.12";
    return std::filesystem::exists(file) ? file : std::string();
}

inline std::string host_tool() {
    return environment("ATTNSCOPE_BINARY_DIR") + "/lib/attnscope/attnscope_cupti_host";
}

}  // namespace attnscope
