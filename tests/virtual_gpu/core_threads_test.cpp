// Kernels counted by a listener = kernels launched, exactly, over 1,000,000 launches from 8 threads and
// streams.
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "core_support.h"

namespace {

using namespace core_test;
using namespace attnscope::vgpu;

std::atomic<uint64_t> counted[64];
std::atomic<uint64_t> correlation_bits;
std::atomic<int> entered{0}, left{0};

TEST_F(Driver, AMillionLaunchesFromEightThreads) {
    if (flash_fatbin() == nullptr) GTEST_SKIP() << "no LibTorch: no kernels to launch";
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, flash_fatbin()));
    ASSERT_CUDA(cuModuleGetFunction(&function, module, flash_kernel));
    CUdeviceptr memory = 0;
    ASSERT_CUDA(cuMemAlloc(&memory, 64 << 20));
    static const Hooks hooks = [] {
        Hooks h;
        h.api_enter = [](ApiCall&) { entered++; };
        h.api_exit = [](ApiCall&) { left++; };
        h.kernel = [](const KernelEvent& e) { counted[e.stream_id % 64]++; };
        return h;
    }();
    constexpr int threads = 8, launches = 125000;
    std::atomic<int> failures{0};
    std::vector<std::thread> all;
    std::vector<unsigned long long> ids(threads);
    set_hooks(&hooks);
    const auto start = std::chrono::steady_clock::now();
    for (int t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            CUstream stream = nullptr;
            if (cuCtxSetCurrent(context_) != CUDA_SUCCESS ||
                cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
                failures++;
            cuStreamGetId(stream, &ids[static_cast<size_t>(t)]);
            std::vector<char> parameters(4096, 0);
            const CUdeviceptr own = memory + static_cast<CUdeviceptr>(t) * (8 << 20);
            std::memcpy(parameters.data(), &own, sizeof own);
            void* values[] = {parameters.data()};
            for (int i = 0; i < launches; i++)
                if (cuLaunchKernel(function, 2, 1, 8, 128, 1, 1, 49152, stream, values, nullptr) !=
                    CUDA_SUCCESS)
                    failures++;
        });
    for (std::thread& thread : all) thread.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    set_hooks(nullptr);
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(std::set<unsigned long long>(ids.begin(), ids.end()).size(), static_cast<size_t>(threads));
    for (unsigned long long id : ids) EXPECT_EQ(counted[id % 64], static_cast<uint64_t>(launches));
    EXPECT_EQ(entered, left);
    RecordProperty("nanoseconds_per_launch", static_cast<int>(seconds * 1e9 / (threads * launches)));
    // Well under 1 microsecond each on an idle machine; the bound leaves room for a busy one.
    EXPECT_LT(seconds, 60);
    cuMemFree(memory);
    cuModuleUnload(module);
}

// Allocation, copies, capture and destruction from many threads at once: nothing may crash, and nothing may
// be left.
TEST_F(Driver, EverythingAtOnce) {
    size_t before = 0, total = 0;
    ASSERT_CUDA(cuMemGetInfo(&before, &total));
    std::atomic<int> failures{0};
    std::vector<std::thread> all;
    for (int t = 0; t < 8; t++)
        all.emplace_back([&, t] {
            auto check = [&](CUresult result) {
                if (result != CUDA_SUCCESS) failures++;
            };
            check(cuCtxSetCurrent(context_));
            CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
            check(cuThreadExchangeStreamCaptureMode(&mode));
            for (int i = 0; i < 300; i++) {
                CUstream stream = nullptr;
                CUdeviceptr memory = 0;
                const size_t bytes = static_cast<size_t>(1 + (i * 7919 + t * 104729) % (3 << 20));
                check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
                check(cuMemAlloc(&memory, bytes));
                const char in = static_cast<char>(t);
                char out = -1;
                check(cuMemcpyHtoD(memory, &in, 1));
                check(cuMemcpyDtoH(&out, memory, 1));
                if (out != in) failures++;
                CUgraph graph = nullptr;
                CUgraphExec exec = nullptr;
                check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
                check(cuMemsetD8Async(memory, 1, bytes, stream));
                check(cuStreamEndCapture(stream, &graph));
                check(cuGraphInstantiateWithFlags(&exec, graph, 0));
                check(cuGraphLaunch(exec, stream));
                check(cuLaunchHostFunc(
                    stream, [](void*) {}, nullptr));
                check(cuStreamSynchronize(stream));
                check(cuGraphExecDestroy(exec));
                check(cuGraphDestroy(graph));
                check(cuMemFree(memory));
                check(cuStreamDestroy(stream));
            }
        });
    for (std::thread& thread : all) thread.join();
    EXPECT_EQ(failures, 0);
    size_t after = 0;
    ASSERT_CUDA(cuMemGetInfo(&after, &total));
    EXPECT_EQ(before, after);
}

}  // namespace
