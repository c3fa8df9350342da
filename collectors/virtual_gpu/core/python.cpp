// The line of the Python program that the calling thread runs, with no Python to compile or link against.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>

#include "collectors/virtual_gpu/core/location.h"
#include "collectors/virtual_gpu/core/python_frames.h"

namespace attnscope::vgpu {

namespace {

using IsInitialized = int (*)();
using GetThisThreadState = void* (*)();
using DumpTraceback = void (*)(int, void*);

struct Python {
    IsInitialized is_initialized;
    GetThisThreadState this_thread_state;
    DumpTraceback dump_traceback;
};

Python python() {
    // Looked up anew until found: an embedding program may load its Python late.
    static Python found{};
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    if (found.dump_traceback == nullptr) {
        Python p{};
        p.is_initialized = reinterpret_cast<IsInitialized>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
        if (p.is_initialized == nullptr) return found;
        p.this_thread_state =
            reinterpret_cast<GetThisThreadState>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
        // faulthandler's function: it only reads, needs no GIL, allocates nothing, and is meant for the worst
        // moments. LibTorch gives the GIL up while it copies, so the C API, which needs it, could wait for
        // ever here.
        p.dump_traceback = reinterpret_cast<DumpTraceback>(dlsym(RTLD_DEFAULT, "_Py_DumpTraceback"));
        if (p.this_thread_state != nullptr && p.dump_traceback != nullptr) found = p;
    }
    return found;
}

std::string traceback() {
    const Python p = python();
    if (p.dump_traceback == nullptr || p.is_initialized() == 0) return {};
    void* state = p.this_thread_state();
    if (state == nullptr) return {};
    const int file = memfd_create("attnscope-traceback", MFD_CLOEXEC);
    if (file < 0) return {};
    p.dump_traceback(file, state);
    std::string text(16384, '\0');
    const ssize_t size = pread(file, text.data(), text.size(), 0);
    close(file);
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return text;
}

// Python's and LibTorch's own files: the line sought is the program's.
bool is_library(const std::string& file) {
    return file.find("/torch/") != std::string::npos || file.find("<frozen") == 0 ||
           file.find("/importlib/") != std::string::npos;
}

}  // namespace

// One line a frame, innermost first:   File "/home/u/train.py", line 12 in step
std::string python_location() {
    std::string text = traceback();
    if (text.empty()) text = python_frames();  // Python 3.13 no longer exports faulthandler's function
    std::string nearest;
    for (size_t start = 0; start < text.size();) {
        const size_t end = std::min(text.find('\n', start), text.size());
        const std::string line = text.substr(start, end - start);
        start = end + 1;
        const size_t open = line.find("File \"");
        const size_t close = line.find("\", line ");
        if (open == std::string::npos || close == std::string::npos || close < open + 6) continue;
        const std::string file = line.substr(open + 6, close - open - 6);
        std::string rest = line.substr(close + 8);
        const size_t in = rest.find(" in ");
        std::string place = file.substr(file.rfind('/') + 1) + ":" + rest.substr(0, in);
        if (in != std::string::npos) place += rest.substr(in);
        if (!is_library(file)) return place;
        if (nearest.empty()) nearest = place;
    }
    return nearest;
}

}  // namespace attnscope::vgpu
