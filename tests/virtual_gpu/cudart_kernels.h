#pragma once
// Kernels out of the torch wheel's libtorch_cuda.so, registered by hand as nvcc's start-up code would.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>

#include "attnscope/binary.h"

extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterFatBinaryEnd(void**);
extern "C" void __cudaUnregisterFatBinary(void**);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                                       dim3*, int*);
extern "C" cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

namespace attnscope::cudart_test {

/// LibTorch 2.11's flash forward kernel of head_dim 64 in bf16, neither causal nor with dropout: the one in
/// the public trace h100-bert-small (there <.., false, false, false, false, false, true, false>; 2.11 has one
/// flag more, for the softcap).
inline constexpr const char* flash_traits =
    "Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass10bfloat16_t";
inline constexpr const char* flash_flags = "Lb0ELb0ELb0ELb0ELb0ELb1ELb0ELb0E";

struct FoundKernel {
    const void* image = nullptr;
    KernelResources resources;
};

/// The first kernel for sm_`major``minor` whose mangled name holds all of the given parts. The file stays
/// mapped.
inline FoundKernel find_kernel(const std::string& path, int major, int minor,
                               std::initializer_list<const char*> parts) {
    const int file = open(path.c_str(), O_RDONLY);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) return {};
    const auto bytes = static_cast<size_t>(status.st_size);
    const char* const start = static_cast<const char*>(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0));
    close(file);
    constexpr uint64_t fat_binary_start = 0x00100001BA55ED50;  // magic, version 1, header of 16 bytes
    for (size_t at = 0; at + 16 <= bytes; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, start + at, sizeof word);
        if (word != fat_binary_start) continue;
        const Fatbin fatbin(start + at, bytes - at, path);
        const auto index = fatbin.select(major, minor);
        if (!index) continue;
        for (const KernelResources& kernel : fatbin.kernels(*index)) {
            bool all = kernel.name.find("flash_fwd_kernel") != std::string::npos;
            for (const char* part : parts) all = all && kernel.name.find(part) != std::string::npos;
            if (all) return {start + at, kernel};
        }
        at += (fatbin.size_bytes() + 7) / 8 * 8 - 8;
    }
    return {};
}

/// One kernel registered under the address of `host`, as in a program.
class RegisteredKernel {
  public:
    explicit RegisteredKernel(const FoundKernel& found) : name_(found.resources.name) {
        wrapper_.data = found.image;
        handle_ = __cudaRegisterFatBinary(&wrapper_);
        __cudaRegisterFunction(handle_, &host_, const_cast<char*>(name_.c_str()), name_.c_str(), -1, nullptr,
                               nullptr, nullptr, nullptr, nullptr);
        __cudaRegisterFatBinaryEnd(handle_);
    }
    ~RegisteredKernel() { __cudaUnregisterFatBinary(handle_); }
    RegisteredKernel(const RegisteredKernel&) = delete;
    RegisteredKernel& operator=(const RegisteredKernel&) = delete;
    const void* function() const { return &host_; }
    const std::string& name() const { return name_; }

  private:
    struct {
        int magic = 0x466243b1;
        int version = 1;
        const void* data = nullptr;
        void* file = nullptr;
    } wrapper_;
    std::string name_;
    char host_ = 0;
    void** handle_ = nullptr;
};

inline std::string torch_library() {
    return std::string(ATTNSCOPE_TEST_TORCH_LIB) + "/libtorch_cuda.so";
}

/// The flash kernel registered; the test is skipped where there is no LibTorch.
class FlashKernel : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        found_ = new FoundKernel(find_kernel(torch_library(), 9, 0, {flash_traits, flash_flags}));
    }
    static void TearDownTestSuite() { delete found_; }
    void SetUp() override {
        if (access(torch_library().c_str(), R_OK) != 0) GTEST_SKIP() << "no LibTorch: " << torch_library();
        ASSERT_NE(found_->image, nullptr) << "LibTorch 2.11's flash kernel is not in " << torch_library();
        kernel_.emplace(*found_);
        cudaGetLastError();
    }
    const void* flash() const { return kernel_->function(); }
    const KernelResources& resources() const { return found_->resources; }

    static inline FoundKernel* found_ = nullptr;
    std::optional<RegisteredKernel> kernel_;
    char parameters_[4096] = {};  // Flash_fwd_params; nothing reads them on a virtual GPU
    void* arguments_[1] = {parameters_};
};

}  // namespace attnscope::cudart_test
