#include "find_cupti.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace attnscope::counters {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

/// Debian's python3 puts packages into dist-packages, every other one into site-packages.
void add_packages(const fs::path& prefix, std::vector<std::string>& folders) {
    std::error_code absent;
    std::vector<fs::path> versions;
    for (fs::directory_iterator entry(prefix / "lib", absent), end; !absent && entry != end;
         entry.increment(absent))
        if (entry->path().filename().string().starts_with("python3")) versions.push_back(entry->path());
    std::sort(versions.begin(), versions.end());
    for (const fs::path& version : versions)
        for (const char* packages : {"site-packages", "dist-packages"})
            for (const char* package : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"})
                folders.push_back(version / packages / package);
}

/// The prefix of the first python3 of PATH, as it is called: a virtual environment is a link.
fs::path python_prefix() {
    std::string path = environment("PATH");
    for (size_t begin = 0; begin < path.size();) {
        const size_t end = std::min(path.find(':', begin), path.size());
        const fs::path folder = path.substr(begin, end - begin);
        std::error_code ignored;
        if (folder.is_absolute() && fs::exists(folder / "python3", ignored)) return folder.parent_path();
        begin = end + 1;
    }
    return {};
}

fs::path cache() {
    if (const std::string named = environment("ATTNSCOPE_CACHE"); !named.empty()) return named;
    if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
        return fs::path(xdg) / "attnscope";
    const std::string home = environment("HOME");
    return fs::path(home.empty() ? "/root" : home) / ".cache/attnscope";
}

}  // namespace

std::vector<std::string> cupti_folders() {
    std::vector<std::string> folders;
    for (const std::string& root :
         {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
        if (root.empty()) continue;
        folders.push_back(root + "/extras/CUPTI/lib64");
        folders.push_back(root + "/lib64");
    }
    if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty()) add_packages(venv, folders);
    if (const fs::path prefix = python_prefix(); !prefix.empty()) add_packages(prefix, folders);
    if (const std::string home = environment("HOME"); !home.empty())
        add_packages(fs::path(home) / ".local", folders);
    add_packages("/usr/local", folders);
    folders.push_back(cache() / "cuda/nvidia/cu13/lib");
    folders.push_back("/usr/lib/x86_64-linux-gnu");
    return folders;
}

std::string find_cupti() {
    if (std::string named = environment("ATTNSCOPE_CUPTI"); !named.empty()) return named;
    const std::vector<std::string> folders = cupti_folders();
    for (const char* name : {"libcupti.so.13", "libcupti.so.12"})
        for (const std::string& folder : folders) {
            std::error_code ignored;
            const fs::path file = fs::path(folder) / name;
            if (!fs::exists(file, ignored)) continue;
            // A toolkit's libcupti is a link into the folder that also holds the other one.
            const fs::path real = fs::canonical(file, ignored);
            if (fs::exists(real.parent_path() / "libnvperf_host.so", ignored)) return file;
        }
    return {};
}

}  // namespace attnscope::counters
