#include "surroundings.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

extern char** environ;

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

std::string installed_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return (program.parent_path().parent_path() / "lib" / "attnscope").string();
}

[[noreturn]] void broken(const std::string& what) {
    throw Error("this installation of attnscope is not whole: " + what + "; build or install it again",
                Exit::internal);
}

void check_injection(const std::string& file) {
    void* library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) broken(std::string("the injection library cannot be loaded: ") + dlerror());
    for (const char* entry : {"InitializeInjection", "InitializeInjectionNvtx2"})
        if (dlsym(library, entry) == nullptr) broken(file + " does not export " + entry);
    dlclose(library);
}

/// What a colon- and space-separated list cannot hold.
void check_listable(const std::string& path) {
    if (path.find_first_of(" :\t\n") != std::string::npos)
        throw Error(
            "the virtual GPU is preloaded, and LD_PRELOAD cannot name a path with a space or a colon: "
            "install attnscope elsewhere than " +
            path);
}

/// On a real GPU: where CUPTI lies when the loader does not find it by itself.
std::string cupti_hints() {
    std::vector<std::string> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* root = std::getenv(variable)) folders.emplace_back(root);
    folders.emplace_back("/usr/local/cuda");
    std::string hints;
    for (const std::string& folder : folders)
        for (const char* part : {"/extras/CUPTI/lib64/", "/lib64/", "/targets/x86_64-linux/lib/"})
            for (const char* soname : {"libcupti.so.13", "libcupti.so.12"})
                if (const std::string file = folder + part + soname; access(file.c_str(), R_OK) == 0)
                    hints += (hints.empty() ? "" : ":") + file;
    return hints;
}

}  // namespace

Libraries find_libraries(const std::string& folder, bool with_virtual) {
    const std::string root = folder.empty() ? installed_folder() : fs::absolute(folder).string();
    Libraries libraries;
    libraries.injection = root + "/libattnscope_injection.so";
    if (access(libraries.injection.c_str(), R_OK) != 0) broken(libraries.injection + " is missing");
    check_injection(libraries.injection);
    libraries.virtual_folder = root + "/virtual_gpu";
    if (!with_virtual) return libraries;
    std::error_code error;
    for (fs::directory_iterator at(libraries.virtual_folder, error), end; !error && at != end;
         at.increment(error))
        if (at->path().filename().string().find(".so") != std::string::npos)
            libraries.stand_ins.push_back(at->path());
    // The core first: the others stand on it. Then by name, so that the order is the same everywhere.
    std::sort(libraries.stand_ins.begin(), libraries.stand_ins.end(),
              [](const std::string& a, const std::string& b) {
                  const auto rank = [](const std::string& s) {
                      return s.find("libattnscope_vgpu") == std::string::npos ? 1 : 0;
                  };
                  return rank(a) != rank(b) ? rank(a) < rank(b) : a < b;
              });
    if (access((libraries.virtual_folder + "/libcuda.so.1").c_str(), R_OK) != 0)
        broken(libraries.virtual_folder + "/libcuda.so.1 is missing");
    check_listable(libraries.virtual_folder);
    return libraries;
}

void check_injection_variables(const std::string& injection) {
    for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
        const char* value = std::getenv(variable);
        if (value == nullptr || *value == '\0' || injection == value) continue;
        throw Error(std::string(variable) + " is already set, to " + value +
                    ": another tool (Nsight, a tracer) observes this program, and there is one place only; "
                    "unset it, or run without that tool");
    }
}

std::vector<std::string> program_environment(
    const CollectRequest& request, const GroundChoice& ground, const Libraries& libraries,
    const std::string& run_folder, const std::vector<std::pair<std::string, std::string>>& counters) {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const size_t equals = text.find('=', 1);
        if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
    for (const auto& [name, value] : request.environment) variables[name] = value;
    for (const char* name : {"ATTNSCOPE_COUNTERS", "ATTNSCOPE_COUNTERS_REPLAY"}) variables.erase(name);
    for (const auto& [name, value] : counters) variables[name] = value;
    variables["ATTNSCOPE_RUN_DIR"] = run_folder;
    variables["CUDA_INJECTION64_PATH"] = libraries.injection;
    variables["NVTX_INJECTION64_PATH"] = libraries.injection;
    if (ground.is_virtual) {
        variables["ATTNSCOPE_VIRTUAL_DEVICES"] = ground.virtual_devices;
        if (!request.uncomputed.empty()) variables["ATTNSCOPE_UNCOMPUTED"] = request.uncomputed;
        std::string preload;
        for (const std::string& file : libraries.stand_ins) preload += (preload.empty() ? "" : ":") + file;
        // Preloaded as well as found: the torch wheel's RPATH comes before LD_LIBRARY_PATH.
        std::string& kept = variables["LD_PRELOAD"];
        kept = kept.empty() ? preload : preload + ':' + kept;
        std::string& path = variables["LD_LIBRARY_PATH"];
        path = path.empty() ? libraries.virtual_folder : libraries.virtual_folder + ':' + path;
    } else if (const std::string hints = cupti_hints();
               !hints.empty() && variables.count("ATTNSCOPE_CUPTI") == 0) {
        variables["ATTNSCOPE_CUPTI"] = hints;
    }
    std::vector<std::string> out;
    for (const auto& [name, value] : variables) out.push_back(name + '=' + value);
    return out;
}

}  // namespace attnscope::launch
