#include "collectors/virtual_gpu/core/location.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace attnscope::vgpu {

namespace {

// Frames of these are the means by which the program asked, not the place where it did.
bool is_library(const char* path) {
    const char* slash = std::strrchr(path, '/');
    const char* name = slash != nullptr ? slash + 1 : path;
    for (const char* known :
         {"libattnscope", "libcuda",   "libcudart", "libcublas",  "libcudnn",  "libcupti", "libtorch",
          "libc10",       "libnvrtc",  "libcaffe2", "libcu",      "libnccl",   "libnv",    "libc.so",
          "libc-",        "libstdc++", "libgcc",    "libpthread", "libpython", "python",   "ld-linux"})
        if (std::strncmp(name, known, std::strlen(known)) == 0) return true;
    return false;
}

std::string native_location() {
    void* frames[64];
    const int count = backtrace(frames, 64);
    for (int i = 1; i < count; i++) {
        Dl_info info{};
        // The return address may be that of the next function when a call ends one.
        void* address = static_cast<char*>(frames[i]) - 1;
        if (dladdr(address, &info) == 0 || info.dli_fname == nullptr || is_library(info.dli_fname)) continue;
        if (info.dli_sname != nullptr) {
            int status = 0;
            char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
            std::string name = status == 0 && readable != nullptr ? readable : info.dli_sname;
            std::free(readable);
            return name;
        }
        const char* slash = std::strrchr(info.dli_fname, '/');
        char text[64];
        std::snprintf(text, sizeof text, "+0x%zx",
                      static_cast<size_t>(static_cast<char*>(address) - static_cast<char*>(info.dli_fbase)));
        return std::string(slash != nullptr ? slash + 1 : info.dli_fname) + text;
    }
    return {};
}

}  // namespace

std::string program_location() {
    std::string location = python_location();
    return location.empty() ? native_location() : location;
}

}  // namespace attnscope::vgpu
