// Launches through the runtime on H100-SXM5, with a kernel of LibTorch's.
#include <cuda_runtime_api.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "cudart_kernels.h"

namespace attnscope::cudart_test {
namespace {

using CudartLaunch = FlashKernel;

constexpr size_t flash_shared = 49152;

// 255 registers and 49,152 bytes: a real H100's, in the public trace kineto/h100-bert-small.json.gz; 12.5%, 2
// CTAs an SM: the facts of LibTorch 2.11.
TEST_F(CudartLaunch, AttributesAndOccupancyComeFromTheCubin) {
    cudaFuncAttributes a;
    ASSERT_EQ(cudaFuncGetAttributes(&a, flash()), cudaSuccess);
    EXPECT_EQ(a.numRegs, 255);
    EXPECT_EQ(a.sharedSizeBytes, 0u);
    EXPECT_EQ(a.binaryVersion, 90);
    EXPECT_EQ(a.localSizeBytes, resources().local_bytes);
    EXPECT_EQ(a.maxThreadsPerBlock, static_cast<int>(resources().max_threads));
    int blocks = 0;
    ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, flash(), 128, flash_shared),
              cudaSuccess);
    EXPECT_EQ(blocks, 2);
    const char* name = nullptr;
    ASSERT_EQ(cudaFuncGetName(&name, flash()), cudaSuccess);
    EXPECT_EQ(name, resources().name);
}

TEST_F(CudartLaunch, EveryWayToLaunch) {
    const dim3 grid(2, 1, 8);
    const dim3 block(128, 1, 1);
    ASSERT_EQ(cudaLaunchKernel(flash(), grid, block, arguments_, flash_shared, nullptr), cudaSuccess);
    cudaKernel_t kernel = nullptr;
    ASSERT_EQ(__cudaGetKernel(&kernel, flash()), cudaSuccess);
    ASSERT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments_, flash_shared, nullptr), cudaSuccess);
    ASSERT_EQ(cudaLaunchKernel(kernel, grid, block, arguments_, flash_shared, nullptr), cudaSuccess)
        << "a kernel handle";
    cudaFunction_t function = nullptr;
    ASSERT_EQ(cudaGetFuncBySymbol(&function, flash()), cudaSuccess);
    ASSERT_EQ(cudaLaunchKernel(function, grid, block, arguments_, flash_shared, nullptr), cudaSuccess)
        << "a function handle";
    ASSERT_EQ(cudaLaunchCooperativeKernel(flash(), grid, block, arguments_, flash_shared, nullptr),
              cudaSuccess);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t config{grid, block, flash_shared, nullptr, &cluster, 1};
    ASSERT_EQ(cudaLaunchKernelExC(&config, flash(), arguments_), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// The codes of the real runtime: cudaErrorInvalidConfiguration for a geometry outside the device's limits,
// cudaErrorInvalidValue for too much dynamic shared memory, 701 for too many registers, 720 for a cooperative
// grid that does not fit, 98 for what is no kernel.
TEST_F(CudartLaunch, RefusalsCarryTheRuntimesCodes) {
    const dim3 one(1, 1, 1);
    const dim3 block(128, 1, 1);
    const auto launch = [&](dim3 grid, dim3 threads, size_t shared) {
        const cudaError_t error = cudaLaunchKernel(flash(), grid, threads, arguments_, shared, nullptr);
        EXPECT_EQ(cudaGetLastError(), error);
        return error;
    };
    EXPECT_EQ(launch(dim3(1, 65536, 1), block, 0), cudaErrorInvalidConfiguration);  // flash with batch 65,536
    EXPECT_EQ(launch(dim3(0, 1, 1), block, 0), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch(one, dim3(128, 0, 1), 0), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch(one, dim3(2048, 1, 1), 0), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch(one, dim3(1, 1, 65), 0), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch(one, block, 232448 + 1), cudaErrorInvalidValue);
    EXPECT_EQ(launch(one, block, 49152 + 1), cudaErrorInvalidValue) << "above 48 KiB only after opting in";
    EXPECT_EQ(launch(one, dim3(512, 1, 1), 0), cudaErrorLaunchOutOfResources)
        << "255 registers for 512 threads";
    ASSERT_EQ(cudaFuncSetAttribute(flash(), cudaFuncAttributeMaxDynamicSharedMemorySize, 232448),
              cudaSuccess);
    EXPECT_EQ(launch(one, block, 232448), cudaSuccess);
    EXPECT_EQ(cudaFuncSetAttribute(flash(), cudaFuncAttributeMaxDynamicSharedMemorySize, 232449),
              cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaLaunchCooperativeKernel(flash(), dim3(2 * 132 + 1), block, arguments_, flash_shared, nullptr),
        cudaErrorCooperativeLaunchTooLarge);
    char unregistered = 0;
    EXPECT_EQ(cudaLaunchKernel(&unregistered, one, block, arguments_, 0, nullptr),
              cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(cudaLaunchKernel(nullptr, one, block, arguments_, 0, nullptr), cudaErrorInvalidDeviceFunction);
    cudaFuncAttributes a;
    EXPECT_EQ(cudaFuncGetAttributes(&a, &unregistered), cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
}

TEST_F(CudartLaunch, AnUnregisteredKernelIsGone) {
    const void* gone = nullptr;
    {
        const RegisteredKernel again(*found_);
        gone = again.function();
        ASSERT_EQ(cudaLaunchKernel(gone, dim3(1), dim3(128), arguments_, 0, nullptr), cudaSuccess);
    }
    EXPECT_EQ(cudaLaunchKernel(gone, dim3(1), dim3(128), arguments_, 0, nullptr),
              cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
}

TEST_F(CudartLaunch, AMillionFromEightThreadsAndStreams) {
    constexpr int threads = 8;
    constexpr int each = 125'000;
    std::atomic<int> accepted{0};
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) {
        workers.emplace_back([&] {
            cudaStream_t stream = nullptr;
            ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
            int own = 0;
            for (int n = 0; n < each; ++n) {
                own += cudaLaunchKernel(flash(), dim3(2, 1, 8), dim3(128), arguments_, flash_shared,
                                        stream) == cudaSuccess;
            }
            accepted += own;
            EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
            EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
        });
    }
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(accepted, threads * each);
}

}  // namespace
}  // namespace attnscope::cudart_test
