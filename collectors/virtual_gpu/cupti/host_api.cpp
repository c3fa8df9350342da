// CUPTI's host API computes on the host alone (metric names, passes, evaluation): the real library does it
// without a device. So these calls go to the real libcupti where one is installed, loaded beside this one on
// the first call.
#include "collectors/virtual_gpu/cupti/host_api.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/real_library.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/result.h"

namespace attnscope::vgpu::cupti {
namespace {

constexpr const char* library_name = "libcupti.so.13";

std::vector<std::string> candidates() {
    std::vector<std::string> files;
    const auto folder = [&](const std::string& path) { files.push_back(path + "/" + library_name); };
    if (const std::string named = environment("ATTNSCOPE_REAL_CUPTI"); !named.empty()) return {named};
    if (const std::string wheel = wheel_folder(); !wheel.empty()) folder(wheel);
    folder(cache_folder());
    for (const std::string& root :
         {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
        if (root.empty()) continue;
        folder(root + "/extras/CUPTI/lib64");
        folder(root + "/lib64");
    }
    return files;
}

bool same_file(const std::string& a, const char* b) {
    struct stat left {
    }, right{};
    return stat(a.c_str(), &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

/// The real library, nullptr where there is none.
void* real_library() {
    static void* const library = []() -> void* {
        Dl_info self{};
        static const int here = 0;
        dladdr(&here, &self);
        for (const std::string& file : candidates()) {
            if (self.dli_fname && same_file(file, self.dli_fname)) continue;
            if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
        }
        return nullptr;
    }();
    return library;
}

using HostFunction = CUptiResult (*)(void*);

}  // namespace

CUptiResult ask_host(const char* name, void* params) {
    void* library = real_library();
    auto* function = library ? reinterpret_cast<HostFunction>(dlsym(library, name)) : nullptr;
    if (!function) {
        report("warning", "no-host-cupti",
               std::string(name) + " needs NVIDIA's libcupti.so.13, which was not found",
               "install it with: pip install nvidia-cuda-cupti (version 13), or name the file in "
               "ATTNSCOPE_REAL_CUPTI");
        return CUPTI_ERROR_NOT_SUPPORTED;
    }
    return function(params);
}

}  // namespace attnscope::vgpu::cupti

#define PASS_ON(name)                                                                           \
    extern "C" __attribute__((visibility("default"))) CUptiResult name(void* params) {          \
        ATTNSCOPE_FAULT_POINT;                                                                  \
        return attnscope::vgpu::cupti::answer(attnscope::vgpu::cupti::ask_host(#name, params)); \
    }

PASS_ON(cuptiProfilerHostDeinitialize)
PASS_ON(cuptiProfilerHostGetSupportedChips)
PASS_ON(cuptiProfilerHostGetBaseMetrics)
PASS_ON(cuptiProfilerHostGetSubMetrics)
PASS_ON(cuptiProfilerHostGetMetricProperties)
PASS_ON(cuptiProfilerHostConfigAddMetrics)
PASS_ON(cuptiProfilerHostGetConfigImageSize)
PASS_ON(cuptiProfilerHostGetConfigImage)
PASS_ON(cuptiProfilerHostGetNumOfPasses)
// About a cubin alone, too.
PASS_ON(cuptiGetCubinCrc)
PASS_ON(cuptiGetSassToSourceCorrelation)
