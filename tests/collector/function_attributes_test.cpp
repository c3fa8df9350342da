// What the driver says of functions and kernels, through the virtual driver. Right values: the flash
// attention kernel has 255 registers and no static shared memory on sm_90 (facts/attention.md 1.6, cuobjdump
// --dump-resource-usage of LibTorch 2.11), and what the driver itself answers when asked directly.
#include "function_attributes.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "collectors/virtual_gpu/core/hooks.h"
#include "tests/virtual_gpu/core_support.h"

namespace attnscope::collector {
namespace {

std::atomic<int> g_asked{0}, g_not_marked{0};

/// Counts the calls that reach the driver, and those that are not marked as ours.
void listen() {
    static const vgpu::Hooks hooks = [] {
        vgpu::Hooks h;
        h.api_enter = [](vgpu::ApiCall& call) {
            if (std::strncmp(call.function, "cuFuncGet", 9) != 0 &&
                std::strncmp(call.function, "cuKernelGet", 11) != 0)
                return;
            ++g_asked;
            if (!inside_own_call()) ++g_not_marked;
        };
        return h;
    }();
    vgpu::set_hooks(&hooks);
    g_asked = g_not_marked = 0;
}

class FunctionFactsTest : public core_test::Driver {
  protected:
    void SetUp() override {
        Driver::SetUp();
        listen();
    }
    void TearDown() override {
        vgpu::set_hooks(nullptr);
        forget_module(nullptr);
        Driver::TearDown();
    }
};

constexpr const char* kSource = "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel first\nkernel second\n";

TEST_F(FunctionFactsTest, OfAFunction) {
    const void* image = core_test::flash_fatbin();
    if (image == nullptr) GTEST_SKIP() << "no LibTorch: set ATTNSCOPE_TORCH_ROOT at configuration";
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, image));
    ASSERT_CUDA(cuModuleGetFunction(&function, module, core_test::flash_kernel));
    const FunctionFacts facts = facts_of(context_, function, 0);
    EXPECT_EQ(facts.registers, 255u);
    EXPECT_EQ(facts.static_shared, 0u);  // told to be none, which is not "not told"
    int local = -1;
    ASSERT_CUDA(cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    EXPECT_EQ(facts.local_per_thread, static_cast<uint32_t>(local));
    EXPECT_EQ(facts.name, core_test::flash_kernel);
    EXPECT_EQ(facts.required_cluster, (std::array<uint32_t, 3>{0, 0, 0}));
    EXPECT_CUDA(cuModuleUnload(module));
}

TEST_F(FunctionFactsTest, OfAKernelOfALibrary) {
    const void* image = core_test::flash_fatbin();
    if (image == nullptr) GTEST_SKIP() << "no LibTorch: set ATTNSCOPE_TORCH_ROOT at configuration";
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    ASSERT_CUDA(cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASSERT_CUDA(cuLibraryGetKernel(&kernel, library, core_test::flash_kernel));
    int value = 0;
    ASSERT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, reinterpret_cast<CUfunction>(kernel)),
              CUDA_ERROR_INVALID_HANDLE);  // why the second question is needed
    const FunctionFacts facts = facts_of(context_, kernel, 0);
    EXPECT_EQ(facts.registers, 255u);
    EXPECT_EQ(facts.static_shared, 0u);
    EXPECT_TRUE(facts.local_per_thread.has_value());
    EXPECT_EQ(facts.name, core_test::flash_kernel);
    EXPECT_CUDA(cuLibraryUnload(library));
}

TEST_F(FunctionFactsTest, NothingIsMadeUpForAWrongHandle) {
    int nothing = 0;
    const FunctionFacts facts = facts_of(context_, &nothing, 0);
    EXPECT_FALSE(facts.registers || facts.static_shared || facts.local_per_thread);
    EXPECT_EQ(facts.name, "");
}

TEST_F(FunctionFactsTest, TheDriverIsAskedOnceForEachHandleAndContext) {
    CUmodule module = nullptr;
    CUfunction first = nullptr, second = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, kSource));
    ASSERT_CUDA(cuModuleGetFunction(&first, module, "first"));
    ASSERT_CUDA(cuModuleGetFunction(&second, module, "second"));
    EXPECT_EQ(facts_of(context_, first, 0).name, "first");
    const int once = g_asked;
    EXPECT_GT(once, 0);
    EXPECT_EQ(g_not_marked, 0);
    EXPECT_FALSE(inside_own_call());
    EXPECT_EQ(shared_facts_of(context_, first, 0), shared_facts_of(context_, first, 0));
    EXPECT_EQ(g_asked, once);
    EXPECT_EQ(facts_of(context_, second, 0).name, "second");
    EXPECT_EQ(g_asked, 2 * once);

    // Unloading another context's module forgets nothing here.
    forget_module(reinterpret_cast<CUcontext>(&module));
    facts_of(context_, first, 0);
    EXPECT_EQ(g_asked, 2 * once);
    forget_module(context_);
    facts_of(context_, first, 0);
    EXPECT_EQ(g_asked, 3 * once);
    forget_module(nullptr);
    facts_of(context_, first, 0);
    EXPECT_EQ(g_asked, 4 * once);
    EXPECT_CUDA(cuModuleUnload(module));
}

TEST_F(FunctionFactsTest, ManyThreadsAskWhileModulesGo) {
    CUmodule module = nullptr;
    CUfunction functions[2] = {};
    ASSERT_CUDA(cuModuleLoadData(&module, kSource));
    ASSERT_CUDA(cuModuleGetFunction(&functions[0], module, "first"));
    ASSERT_CUDA(cuModuleGetFunction(&functions[1], module, "second"));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5000; ++i) {
                if (t == 0) forget_module(context_);
                wrong += facts_of(context_, functions[i & 1], 0).name != ((i & 1) != 0 ? "second" : "first");
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_CUDA(cuModuleUnload(module));
}

}  // namespace
}  // namespace attnscope::collector
