// A device for which LibTorch holds no image (V100: the wheel has sm_75 and later), and none at all
// (CUDA_VISIBLE_DEVICES empty, in a child).
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "cudart_kernels.h"

namespace attnscope::cudart_test {
namespace {

// In a child: the visible devices are read once in a process.
TEST(CudartNoDevice, SaysSo) {
    const pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_VISIBLE_DEVICES", "", 1);
        int count = -1;
        void* memory = nullptr;
        const bool right = cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0 &&
                           cudaGetLastError() == cudaErrorNoDevice &&
                           cudaMalloc(&memory, 16) == cudaErrorNoDevice;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

using CudartNoImage = FlashKernel;

TEST_F(CudartNoImage, LaunchIsRefusedEachTime) {
    cudaDeviceProp p;
    ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
    ASSERT_EQ(p.major, 7);
    ASSERT_EQ(p.minor, 0);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(cudaLaunchKernel(flash(), dim3(1), dim3(128), arguments_, 0, nullptr),
                  cudaErrorNoKernelImageForDevice);
        EXPECT_EQ(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
    }
    cudaFuncAttributes a;
    EXPECT_EQ(cudaFuncGetAttributes(&a, flash()), cudaErrorNoKernelImageForDevice);
    // <<<>>> asks for the handle once, and must learn of the failure at each launch.
    cudaKernel_t kernel = nullptr;
    EXPECT_EQ(__cudaGetKernel(&kernel, flash()), cudaSuccess);
    EXPECT_EQ(__cudaLaunchKernel(kernel, dim3(1), dim3(128), arguments_, 0, nullptr),
              cudaErrorNoKernelImageForDevice);
    cudaGetLastError();
}

}  // namespace
}  // namespace attnscope::cudart_test
