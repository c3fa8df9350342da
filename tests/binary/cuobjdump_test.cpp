// Every kernel of libtorch_cuda.so: registers, stack and static shared memory as NVIDIA's cuobjdump prints
// them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "attnscope/binary.h"
#include "library.h"

namespace attnscope {
namespace {

std::string from_environment(const char* name, const char* below) {
    const char* root = std::getenv(name);
    return root != nullptr && *root != '\0' ? std::string(root) + below : std::string();
}

using Lines = std::map<std::string, int>;  // "kernel REG STACK SHARED" -> how often

Lines ask_cuobjdump(const std::string& tool, const std::string& library, int sm) {
    const std::string command =
        "'" + tool + "' -arch sm_" + std::to_string(sm) + " -res-usage '" + library + "' 2>/dev/null";
    Lines lines;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return lines;
    std::string name;
    char* line = nullptr;
    size_t capacity = 0;
    while (getline(&line, &capacity, pipe) > 0) {
        const std::string text = line;
        if (text.starts_with(" Function ")) name = text.substr(10, text.rfind(':') - 10);
        int registers = 0, stack = 0, shared = 0;
        if (std::sscanf(line, " REG:%d STACK:%d SHARED:%d", &registers, &stack, &shared) != 3) continue;
        if (sm >= 90 && shared >= 1024)
            shared -= 1024;  // facts/cupti-without-a-gpu.md: reserved by the system
        ++lines[name + " " + std::to_string(registers) + " " + std::to_string(stack) + " " +
                std::to_string(shared)];
    }
    std::free(line);
    pclose(pipe);
    return lines;
}

Lines ask_ourselves(const std::string& library, int sm) {
    Lines lines;
    binary::for_each_fatbin(library, [&](const Fatbin& fatbin) {
        for (size_t i = 0; i < fatbin.targets().size(); ++i) {
            if (fatbin.targets()[i].sm != sm) continue;  // sm_90a too, as cuobjdump does
            for (const KernelResources& k : fatbin.kernels(i))
                ++lines[k.name + " " + std::to_string(k.cubin_registers) + " " +
                        std::to_string(k.local_bytes) + " " + std::to_string(k.static_shared_bytes)];
        }
    });
    return lines;
}

class LibTorch : public testing::Test {
  protected:
    void SetUp() override {
        library_ = from_environment("ATTNSCOPE_TORCH_ROOT", "/lib/libtorch_cuda.so");
        if (!std::filesystem::exists(library_))
            GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
    }
    std::string library_;
};

class Cuobjdump : public LibTorch, public testing::WithParamInterface<int> {};

TEST_P(Cuobjdump, EveryKernelIsEqual) {
    const std::string tool = from_environment("ATTNSCOPE_CUDA_ROOT", "/bin/cuobjdump");
    if (!std::filesystem::exists(tool)) GTEST_SKIP() << "no cuobjdump (ATTNSCOPE_CUDA_ROOT)";
    const Lines expected = ask_cuobjdump(tool, library_, GetParam());
    ASSERT_FALSE(expected.empty()) << "cuobjdump printed nothing";
    const Lines got = ask_ourselves(library_, GetParam());
    size_t kernels = 0, differences = 0;
    for (const auto& [line, count] : expected) {
        kernels += static_cast<size_t>(count);
        const auto found = got.find(line);
        if (found != got.end() && found->second == count) continue;
        if (++differences < 5) ADD_FAILURE() << "cuobjdump alone says: " << line;
    }
    EXPECT_EQ(differences, 0U);
    EXPECT_EQ(got.size(), expected.size());
    RecordProperty("kernels", static_cast<int>(kernels));
    EXPECT_GT(kernels, 20000U) << "torch 2.11.0+cu130 has 21,742 for sm_90";
}
INSTANTIATE_TEST_SUITE_P(Architectures, Cuobjdump, testing::Values(90, 120));

// facts/attention.md, 1.6: flash forward hd64 on sm_90 has 255 registers and stack 112 / 136 (causal).
TEST_F(LibTorch, FlashOnHopper) {
    const auto begin = std::chrono::steady_clock::now();
    const BinaryKernels all = read_kernels(library_, 9, 0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 20) << "0.6 s where this was written; the whole library is decompressed";
    size_t plain = 0, causal = 0;
    for (const KernelResources& kernel : all.kernels) {
        if (kernel.name.find("flash_fwd_kernelI23Flash_fwd_kernel_"
                             "traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass10bfloat16_t") ==
            std::string::npos)
            continue;
        EXPECT_EQ(kernel.registers, 255U);
        EXPECT_EQ(kernel.static_shared_bytes, 0U);
        plain += kernel.local_bytes == 112;
        causal += kernel.local_bytes == 136;
    }
    EXPECT_GE(plain, 1U);
    EXPECT_GE(causal, 1U);
}

TEST_F(LibTorch, HoldsNothingForVolta) {
    EXPECT_TRUE(read_kernels(library_, 7, 0).kernels.empty());
}

// PyTorch links its own runtime library; a program that links it statically is a limit of the virtual GPU.
TEST_F(LibTorch, LinksTheSharedRuntime) {
    EXPECT_FALSE(links_static_cuda_runtime(library_));
}

}  // namespace
}  // namespace attnscope
