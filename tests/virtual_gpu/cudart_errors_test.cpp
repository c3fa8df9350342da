// Exports and error texts against the real libcudart.so.13; the last error of a thread; functions that are
// not emulated.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "collectors/virtual_gpu/observer.h"

namespace {

constexpr const char* real_library = ATTNSCOPE_TEST_CUDA_ROOT "/lib/libcudart.so.13";
constexpr size_t one_tebibyte = size_t{1} << 40;

std::set<std::string> lines(std::istream& in) {
    std::set<std::string> all;
    for (std::string line; std::getline(in, line);) {
        if (!line.empty()) all.insert(line);
    }
    return all;
}

std::set<std::string> listed_exports() {
    std::ifstream file(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) +
                       "/collectors/virtual_gpu/cudart/exports.txt");
    return lines(file);
}

struct CloseLibrary {
    void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

TEST(CudartExports, EveryListedFunctionIsThereWithItsVersion) {
    const auto names = listed_exports();
    ASSERT_EQ(names.size(), 422u);
    for (const std::string& name : names) {
        EXPECT_NE(dlvsym(RTLD_DEFAULT, name.c_str(), "libcudart.so.13"), nullptr) << name;
    }
}

TEST(CudartExports, TheListIsTheRealLibrarys) {
    if (access(real_library, R_OK) != 0) GTEST_SKIP() << "no real libcudart: " << real_library;
    const std::string command = std::string("nm -D --defined-only ") + real_library + " 2>/dev/null";
    std::set<std::string> real;
    FILE* const nm = popen(command.c_str(), "r");
    ASSERT_NE(nm, nullptr);
    char name[256];
    char type = 0;
    while (std::fscanf(nm, "%*s %c %255s", &type, name) == 2) {
        if (type == 'T') real.insert(std::string(name).substr(0, std::string(name).find('@')));
    }
    pclose(nm);
    if (real.empty()) GTEST_SKIP() << "nm (binutils) is not installed";
    EXPECT_EQ(listed_exports(), real);
}

// The real library's two functions are pure: they answer without a driver.
TEST(CudartErrors, NamesAndSentencesAreTheRealLibrarys) {
    if (access(real_library, R_OK) != 0) GTEST_SKIP() << "no real libcudart: " << real_library;
    const Library real(dlopen(real_library, RTLD_NOW | RTLD_LOCAL));
    ASSERT_NE(real, nullptr) << dlerror();
    using Describe = const char* (*)(cudaError_t);
    const auto name = reinterpret_cast<Describe>(dlsym(real.get(), "cudaGetErrorName"));
    const auto text = reinterpret_cast<Describe>(dlsym(real.get(), "cudaGetErrorString"));
    ASSERT_NE(name, &cudaGetErrorName) << "the stand-in answered for the real library";
    int known = 0;
    for (int number = -2; number < 11000; ++number) {
        const auto error = static_cast<cudaError_t>(number);
        EXPECT_STREQ(cudaGetErrorName(error), name(error)) << number;
        EXPECT_STREQ(cudaGetErrorString(error), text(error)) << number;
        known += std::string(name(error)) != "unrecognized error code";
    }
    EXPECT_EQ(known, 134);  // counted in libcudart 13.0
}

// CUDA Runtime API, 6.3 Error Handling: GetLastError resets, PeekAtLastError does not; a success does not
// clear an error.
TEST(CudartErrors, LastErrorStaysUntilItIsTaken) {
    cudaGetLastError();
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, one_tebibyte), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaMalloc(&memory, 16), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(CudartErrors, LastErrorBelongsToItsThread) {
    EXPECT_EQ(cudaSetDevice(1000), cudaErrorInvalidDevice);
    std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(CudartErrors, WhatIsNotEmulatedSaysSoWithItsName) {
    const auto set_observer =
        reinterpret_cast<AttnscopeVgpuSetObserverFn>(dlsym(RTLD_DEFAULT, "attnscopeVgpuSetObserver"));
    ASSERT_NE(set_observer, nullptr);
    std::string messages;
    AttnscopeVgpuObserver observer{};
    observer.size = sizeof observer;
    observer.user = &messages;
    observer.diagnostic = [](void* user, const AttnscopeVgpuDiagnostic* diagnostic) {
        *static_cast<std::string*>(user) += std::string(diagnostic->code) + ": " + diagnostic->message + "\n";
    };
    set_observer(&observer);
    cudaIpcMemHandle_t handle;
    EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
    set_observer(nullptr);
    EXPECT_NE(messages.find("cudaIpcGetMemHandle"), std::string::npos) << messages;
}

}  // namespace
