// The LibTorch extension is built for one version of LibTorch's C++ interface: another one is found out
// before the extension is loaded, from a C function.
#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "loaded.h"
#include "loaded_object.h"
#include "operations.h"
#include "session.h"

namespace attnscope::collector {
namespace {

/// All that the extension needs; asked for, never loaded.
constexpr const char* kLibraries[] = {"libtorch_cpu.so", "libtorch_cuda.so", "libc10.so", "libc10_cuda.so"};

bool is_loaded(const char* soname) {
    void* library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) dlclose(library);
    return library != nullptr;
}

/// "2.11.0" as the loaded libtorch_cpu.so says it; empty before 2.9, which had no such function.
std::string loaded_version() {
    auto* ask = find_function<uint64_t()>("libtorch_cpu.so", ATTNSCOPE_TORCH_VERSION_SYMBOL);
    if (ask == nullptr) return {};
    const uint64_t version = ask();  // a byte each: major, minor, patch
    return std::to_string(version >> 56) + '.' + std::to_string(version >> 48 & 255) + '.' +
           std::to_string(version >> 40 & 255);
}

/// Beside the injection library.
std::string extension_path() {
    std::string path;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* found) {
            if (!LoadedObject(*info).contains(reinterpret_cast<uintptr_t>(&torch_sink))) return 0;
            *static_cast<std::string*>(found) = info->dlpi_name;
            return 1;
        },
        &path);
    return path.substr(0, path.find_last_of('/') + 1) + "libattnscope_torch.so";
}

#ifdef ATTNSCOPE_TORCH_VERSION
constexpr std::string_view kBuiltFor = ATTNSCOPE_TORCH_VERSION;
#else
constexpr std::string_view kBuiltFor;
#endif

}  // namespace

void TorchExtension::try_start(Session& session) {
    if (decided_) return;
    for (const char* library : kLibraries)
        if (!is_loaded(library)) return;
    decided_ = true;
    const auto tell = [&](const char* code, const std::string& message, const char* remedy) {
        session.notices().diagnostic("info", code, message, remedy);
    };
    const char* switched = std::getenv("ATTNSCOPE_OPERATIONS");
    if (switched != nullptr && std::string_view(switched) == "0")
        return tell("operations-off", "LibTorch's operations are not recorded: ATTNSCOPE_OPERATIONS=0 is set",
                    "unset it");
    if (kBuiltFor.empty())
        return tell("operations-absent",
                    "LibTorch's operations are not recorded: attnscope was built without LibTorch",
                    "build it with LibTorch (ATTNSCOPE_BUILD_EXAMPLES)");
    if (const std::string version = loaded_version(); version != kBuiltFor)
        return tell("operations-other-libtorch",
                    "LibTorch's operations are not recorded: the program uses LibTorch " +
                        (version.empty() ? "older than 2.9" : version) + ", attnscope was built for " +
                        std::string(kBuiltFor) + "; NVTX ranges are recorded all the same",
                    "build attnscope with the program's LibTorch (ATTNSCOPE_TORCH_ROOT)");
    void* extension = dlopen(extension_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    AttnscopeTorchStartFn start = nullptr;
    if (extension != nullptr)
        start = reinterpret_cast<AttnscopeTorchStartFn>(dlsym(extension, "attnscope_torch_start"));
    if (start == nullptr) {
        const char* why = dlerror();
        return tell("operations-failed",
                    std::string("LibTorch's operations are not recorded: ") +
                        (why == nullptr ? "the extension lacks its entry" : why),
                    "build attnscope on the machine that runs the program");
    }
    if (start(torch_sink(session)) != 0)
        tell("operations-failed", "LibTorch's operations are not recorded: the extension could not start",
             "");
}

}  // namespace attnscope::collector
