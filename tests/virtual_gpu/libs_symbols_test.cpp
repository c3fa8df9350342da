// The stand-ins hold every symbol that LibTorch's libraries ask for, with the version they ask for, and
// answer "not supported" as the library in question documents it. Right values: the undefined symbols of
// torch 2.11.0's own libraries; the committed lists (made from NVIDIA's CUDA 13.0 libraries with nm -D);
// statuses from cufft.h, cusolver_common.h, cusparse.h, curand.h, nccl.h, cufile.h.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "libs_elf.h"
#include "libs_recorder.h"

namespace {

namespace fs = std::filesystem;

struct Library {
    const char *soname, *folder, *prefix, *version;
};
const Library libraries[] = {{"libcublas.so.13", "cublas", "cublas", "libcublas.so.13"},
                             {"libcublasLt.so.13", "cublas", "cublasLt", "libcublasLt.so.13"},
                             {"libcudnn.so.9", "cudnn", "cudnn", "libcudnn.so.9"},
                             {"libnvrtc.so.13", "nvrtc", "nvrtc", "libnvrtc.so.13"},
                             {"libcusparse.so.12", "symbols", "cusparse", "libcusparse.so.12"},
                             {"libcusparseLt.so.0", "symbols", "cusparseLt", ""},
                             {"libcufft.so.12", "symbols", "cufft", "libcufft.so.12"},
                             {"libcusolver.so.12", "symbols", "cusolver", "libcusolver.so.12"},
                             {"libcurand.so.10", "symbols", "curand", "libcurand.so.10"},
                             {"libnccl.so.2", "symbols", "nccl", ""},
                             {"libnvshmem_host.so.3", "symbols", "nvshmem", "NVSHMEM"},
                             {"libcufile.so.0", "symbols", "cuFile", ""}};

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}
fs::path stand_in(const std::string& soname) {
    return fs::path(environment("ATTNSCOPE_BINARY_DIR")) / "lib/attnscope/virtual_gpu" / soname;
}

/// name -> version of what the stand-in exports
std::map<std::string, std::string> exports(const Library& library) {
    std::map<std::string, std::string> result;
    ElfFile file(stand_in(library.soname));
    for (const DynamicSymbol& symbol : file.symbols())
        if (symbol.defined && symbol.name != symbol.version) result[symbol.name] = symbol.version;
    return result;
}

TEST(Symbols, EveryListedNameIsExportedWithItsVersionAndNothingElse) {
    for (const Library& library : libraries) {
        std::map<std::string, std::string> exported = exports(library);
        fs::path list = fs::path(environment("ATTNSCOPE_SOURCE_DIR")) / "collectors/virtual_gpu" /
                        library.folder / (std::string(library.soname) + ".txt");
        std::ifstream file(list);
        ASSERT_TRUE(file) << list;
        std::set<std::string> listed;
        for (std::string name; std::getline(file, name);) {
            listed.insert(name);
            ASSERT_TRUE(exported.count(name)) << library.soname << " lacks " << name;
            EXPECT_EQ(exported[name], library.version) << name;
        }
        EXPECT_GE(listed.size(), 6u) << library.soname;
        for (const auto& [name, version] : exported)
            EXPECT_TRUE(listed.count(name)) << library.soname << " also exports " << name;
    }
}

TEST(Symbols, LibTorchFindsEveryNameItAsksFor) {
    fs::path folder = environment("ATTNSCOPE_TORCH_LIB");
    if (folder.empty() || !fs::exists(folder / "libtorch_cuda.so"))
        GTEST_SKIP() << "no LibTorch (ATTNSCOPE_TORCH_ROOT) at " << folder;
    size_t checked = 0;
    std::map<std::string, std::map<std::string, std::string>> all;
    for (const Library& library : libraries) all[library.soname] = exports(library);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().find(".so") == std::string::npos || !entry.is_regular_file())
            continue;
        ElfFile file(entry.path());
        for (const DynamicSymbol& symbol : file.symbols()) {
            if (symbol.defined) continue;
            // The longest prefix decides: cusparseLtInit is cuSPARSELt's.
            const Library* owner = nullptr;
            for (const Library& library : libraries)
                if (symbol.name.rfind(library.prefix, 0) == 0 &&
                    (!owner || std::strlen(library.prefix) > std::strlen(owner->prefix)))
                    owner = &library;
            if (!owner) continue;
            const auto& exported = all[owner->soname];
            auto found = exported.find(symbol.name);
            ASSERT_NE(found, exported.end())
                << entry.path().filename() << " needs " << symbol.name << " of " << owner->soname;
            if (!symbol.version.empty()) {
                EXPECT_EQ(found->second, symbol.version) << symbol.name;
            }
            ++checked;
        }
    }
    // torch 2.11.0: 176 cuBLAS and cuBLASLt, 84 cuDNN, 145 cuSOLVER, 98 cuSPARSE, ... seen with nm -D
    // --undefined-only
    EXPECT_GE(checked, 600u);
}

using Function = long (*)(...);
template <class Type = Function>
Type function(const char* soname, const char* name) {
    void* library = dlopen(stand_in(soname).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(library) << dlerror();
    return library ? reinterpret_cast<Type>(dlsym(library, name)) : nullptr;
}

TEST(Stubs, ReturnTheirLibrarysNotSupportedAndSaySo) {
    struct Case {
        const char *soname, *name;
        long status;
    };
    const Case cases[] = {
        {"libcufft.so.12", "cufftCreate", 16},              // CUFFT_NOT_SUPPORTED
        {"libcusolver.so.12", "cusolverDnCreate", 9},       // CUSOLVER_STATUS_NOT_SUPPORTED
        {"libcusparse.so.12", "cusparseCreate", 10},        // CUSPARSE_STATUS_NOT_SUPPORTED
        {"libcusparseLt.so.0", "cusparseLtInit", 10},       // the same
        {"libcurand.so.10", "curandCreateGenerator", 999},  // CURAND_STATUS_INTERNAL_ERROR
        {"libnccl.so.2", "ncclGetUniqueId", 5},             // ncclInvalidUsage
        {"libcufile.so.0", "cuFileHandleRegister", 5008},   // {CU_FILE_IO_NOT_SUPPORTED, CUDA_SUCCESS}
        {"libnvshmem_host.so.3", "nvshmemid_hostlib_init_attr", 3},
        {"libcublas.so.13", "cublasXtCreate", 15},  // CUBLAS_STATUS_NOT_SUPPORTED
        {"libcudnn.so.9", "cudnnOpTensor", 3000}};  // CUDNN_STATUS_NOT_SUPPORTED
    Recorder recorder;
    for (const Case& c : cases) {
        Function f = function(c.soname, c.name);
        ASSERT_TRUE(f) << c.name;
        EXPECT_EQ(f(nullptr, nullptr, nullptr), c.status) << c.name;
        EXPECT_TRUE(recorder.has_diagnostic(c.name)) << c.name;
    }
}

TEST(Answers, VersionsAndTexts) {
    // As the real libraries of CUDA 13.0 answer them without a GPU.
    int value = 0;
    EXPECT_EQ(function("libcufft.so.12", "cufftGetVersion")(&value), 0);
    EXPECT_EQ(value, 12000);
    EXPECT_EQ(function("libcusolver.so.12", "cusolverGetVersion")(&value), 0);
    EXPECT_EQ(value, 12004);
    EXPECT_EQ(function("libcurand.so.10", "curandGetVersion")(&value), 0);
    EXPECT_EQ(value, 10400);
    EXPECT_EQ(function("libnccl.so.2", "ncclGetVersion")(&value), 0);
    EXPECT_EQ(value, 22809);
    EXPECT_EQ(function("libcusparse.so.12", "cusparseGetProperty")(1, &value), 0);
    EXPECT_EQ(value, 6);
    using Text = const char* (*)(int);
    Text text = function<Text>("libcusparse.so.12", "cusparseGetErrorName");
    EXPECT_STREQ(text(10), "CUSPARSE_STATUS_NOT_SUPPORTED");
    text = function<Text>("libnccl.so.2", "ncclGetErrorString");
    EXPECT_STREQ(text(5), "invalid usage (run with NCCL_DEBUG=WARN for details)");
    EXPECT_LT(function("libcufile.so.0", "cuFileRead")(nullptr, nullptr, 0, 0, 0), 0);
}

}  // namespace
