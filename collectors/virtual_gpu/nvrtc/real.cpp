#include "nvrtc/real.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/api.h"
#include "core/real_library.h"

namespace attnscope::vgpu::nvrtc {
namespace {

constexpr const char* soname = "libnvrtc.so.13";

bool exists(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0;
}

/// A stand-in must not take itself, or a copy of itself, for the real library.
bool is_stand_in(const std::string& path) {
    Dl_info own;
    struct stat mine, other;
    if (dladdr(reinterpret_cast<void*>(&is_stand_in), &own) && stat(own.dli_fname, &mine) == 0 &&
        stat(path.c_str(), &other) == 0 && mine.st_dev == other.st_dev && mine.st_ino == other.st_ino)
        return true;
    return path.find("/attnscope/virtual_gpu/") != std::string::npos;
}

std::vector<std::string> folders() {
    std::vector<std::string> list;
    if (std::string wheel = wheel_folder(); !wheel.empty()) list.push_back(std::move(wheel));
    std::string paths = environment("LD_LIBRARY_PATH");
    for (size_t start = 0; start < paths.size();) {
        size_t end = std::min(paths.find(':', start), paths.size());
        if (end > start) list.push_back(paths.substr(start, end - start));
        start = end + 1;
    }
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (std::string root = environment(variable); !root.empty()) list.push_back(root + "/lib64");
    list.push_back(cache_folder());
    list.insert(list.end(), {"/usr/local/cuda/lib64", "/usr/local/cuda-13.0/lib64",
                             "/usr/lib/x86_64-linux-gnu", "/usr/lib64"});
    return list;
}

struct Real {
    void* library = nullptr;
    std::string path;

    void open(const std::string& candidate) {
        if (library || is_stand_in(candidate)) return;
        if (!exists(candidate)) return;
        // Its own calls must reach itself, not the stand-in of the same names that was loaded before.
        library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        if (library) path = candidate;
    }

    Real() {
        std::string named = environment("ATTNSCOPE_NVRTC");
        if (named == "none") return;
        if (!named.empty()) {
            open(named);
            if (!library)
                report("warning", "nvrtc-not-usable",
                       "ATTNSCOPE_NVRTC names " + named + ", which cannot be loaded",
                       "name a libnvrtc.so.13 of CUDA 13, or unset ATTNSCOPE_NVRTC");
            return;
        }
        for (const std::string& folder : folders()) open(folder + "/" + soname);
    }
};

const Real& real() {
    static const Real found;
    return found;
}

/// At load, before there are threads: a first look, which loads nothing.
__attribute__((constructor)) void look_for_real_library() {
    std::string named = environment("ATTNSCOPE_NVRTC");
    if (named.empty())
        for (const std::string& folder : folders()) {
            std::string path = folder + "/" + soname;
            if (exists(path) && !is_stand_in(path)) return;
        }
    else if (exists(named) && !is_stand_in(named))
        return;
    keep_out_of_kernel_cache();
}

}  // namespace

void keep_out_of_kernel_cache() {
    setenv("USE_PYTORCH_KERNEL_CACHE", "0", 1);
}

void* real_function(const char* name) {
    return real().library ? dlsym(real().library, name) : nullptr;
}
const std::string& real_path() {
    return real().path;
}

}  // namespace attnscope::vgpu::nvrtc
