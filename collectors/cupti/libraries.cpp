// Which of the libraries that matter are loaded, and their versions as they say them; and whatever else
// carries device code, because its kernels may be launched.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "environment.h"
#include "json_line.h"
#include "loaded.h"

namespace attnscope::collector {
namespace {

std::string dotted(int major, int minor, int patch) {
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

/// LibTorch has no exported version. Its Python package says it in version.py, its C++ archive in
/// build-version.
std::string torch_version(const std::string& library) {
    const std::string root = library.substr(0, library.find_last_of('/')) + "/../";
    const std::string python = read_small_file(root + "version.py");
    constexpr std::string_view key = "\n__version__ = ";
    const size_t at = python.find(key);
    if (at != std::string::npos) {
        const size_t open = python.find_first_of("'\"", at + key.size());
        const size_t close = open == std::string::npos ? open : python.find(python[open], open + 1);
        if (close != std::string::npos) return python.substr(open + 1, close - open - 1);
    }
    std::string plain = read_small_file(root + "build-version");
    return plain.substr(0, plain.find_first_of("\r\n"));
}

std::string cudnn_version(const std::string& soname) {
    auto* get = find_function<size_t()>(soname.c_str(), "cudnnGetVersion");
    if (get == nullptr) return {};
    const auto v = static_cast<int>(get());  // 91900; before version 9: 8902
    return v >= 90000 ? dotted(v / 10000, v / 100 % 100, v % 100) : dotted(v / 1000, v / 100 % 10, v % 100);
}

std::string nccl_version(const std::string& soname) {
    auto* get = find_function<int(int*)>(soname.c_str(), "ncclGetVersion");
    int v = 0;
    return get != nullptr && get(&v) == 0 && v > 0 ? dotted(v / 10000, v / 100 % 100, v % 100)
                                                   : std::string();
}

std::string property_version(const std::string& soname, const char* function) {
    auto* get =
        find_function<int(int, int*)>(soname.c_str(), function);  // libraryPropertyType: major, minor, patch
    int v[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i)
        if (get == nullptr || get(i, &v[i]) != 0) return {};
    return dotted(v[0], v[1], v[2]);
}

std::string runtime_version(const std::string& soname) {
    auto* get = find_function<int(int*)>(soname.c_str(), "cudaRuntimeGetVersion");
    int v = 0;
    return get != nullptr && get(&v) == 0 && v > 0
               ? std::to_string(v / 1000) + '.' + std::to_string(v % 1000 / 10)
               : std::string();
}

struct Known {
    const char* file;  ///< the file's name up to its version
    const char* name;  ///< as the run calls it
};
constexpr Known kKnown[] = {
    {"libtorch_cpu.so", "libtorch"}, {"libcudart.so", "cudart"},     {"libcudnn.so", "cudnn"},
    {"libcublas.so", "cublas"},      {"libcublasLt.so", "cublasLt"}, {"libnccl.so", "nccl"},
    {"libcupti.so", "cupti"},        {"libcuda.so", "cuda"},         {"libnvrtc.so", "nvrtc"},
    {"libcusparse.so", "cusparse"},  {"libcusolver.so", "cusolver"}, {"libcufft.so", "cufft"},
};

const Known* known_library(const std::string& file) {
    for (const Known& known : kKnown) {
        const size_t length = std::strlen(known.file);
        if (file.compare(0, length, known.file) == 0 && (file.size() == length || file[length] == '.'))
            return &known;
    }
    return nullptr;
}

std::string version_of(std::string_view name, const std::string& path, const std::string& file) {
    if (name == "libtorch") return torch_version(path);
    if (name == "cudart") return runtime_version(file);
    if (name == "cudnn") return cudnn_version(file);
    if (name == "cublas") return property_version(file, "cublasGetProperty");
    if (name == "cublasLt") return property_version(file, "cublasLtGetProperty");
    if (name == "nccl") return nccl_version(file);
    return {};
}

}  // namespace

void* find_symbol(const char* soname, const char* name) {
    void* library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return nullptr;
    void* symbol = dlsym(library, name);
    dlclose(library);  // it stays: somebody else holds it
    return symbol;
}

std::vector<std::string> loaded_libraries() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
                static_cast<std::vector<std::string>*>(data)->emplace_back(info->dlpi_name);
            return 0;
        },
        &paths);
    return paths;
}

std::string read_small_file(const std::string& path) {
    std::string content;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return content;
    char part[4096];
    for (ssize_t n; content.size() < 65536 && (n = read(fd, part, sizeof part)) > 0;)
        content.append(part, static_cast<size_t>(n));
    close(fd);
    return content;
}

std::string describe_libraries(std::set<std::string>& told) {
    std::string out;
    for (const std::string& path : loaded_libraries()) {
        if (!told.insert(path).second) continue;  // also those of which there is nothing to tell
        const std::string file = path.substr(path.find_last_of('/') + 1);
        if (const Known* known = known_library(file))
            JsonLine(out, "library")
                .text("name", known->name)
                .text("path", path)
                .known("version", version_of(known->name, path, file))
                .end();
        else if (path[0] == '/' && carries_device_code(path))
            JsonLine(out, "library").text("name", file).text("path", path).end();
    }
    return out;
}

}  // namespace attnscope::collector
