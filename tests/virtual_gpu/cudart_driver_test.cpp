// The runtime and the driver in one program: contexts, what CUPTI's listener is told, the variants for
// per-thread streams.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include <optional>
#include <string>
#include <vector>

#include "collectors/virtual_gpu/core/hooks.h"
#include "cudart_kernels.h"

extern "C" cudaError_t cudaMemsetAsync_ptsz(void*, int, size_t, cudaStream_t);
extern "C" cudaError_t cudaMemcpy_ptds(void*, const void*, size_t, cudaMemcpyKind);

namespace attnscope::cudart_test {
namespace {

// CUDA Driver API, "Interoperability between Runtime and Driver APIs": the runtime uses the context that is
// current.
TEST(CudartDriver, TheProgramsOwnContextIsUsed) {
    int device = -1;
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    CUcontext second = nullptr;
    CUcontext first = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&first), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(second), CUDA_SUCCESS);
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 1);
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
    cudaPointerAttributes attributes;
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
    EXPECT_EQ(attributes.device, 1);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    ASSERT_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST(CudartDriver, AContextTakenAwayComesBack) {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

struct Seen {
    vgpu::ApiDomain domain;
    uint32_t cbid;
    std::string function;
    std::string symbol;
    uint32_t correlation;
    int result;
    size_t bytes;  ///< cudaMalloc's parameter
};
std::vector<Seen> seen;

void note(vgpu::ApiCall& call) {
    size_t bytes = 0;
    if (call.domain == vgpu::ApiDomain::runtime && call.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020)
        bytes = static_cast<const cudaMalloc_v3020_params*>(call.parameters)->size;
    seen.push_back({call.domain, call.cbid, call.function, call.symbol ? call.symbol : "", call.correlation,
                    call.result, bytes});
}

class Listening {
  public:
    Listening() {
        static vgpu::Hooks hooks;
        hooks.api_exit = note;
        seen.clear();
        vgpu::set_hooks(&hooks);
    }
    ~Listening() { vgpu::set_hooks(nullptr); }
};

// cbids and parameters: CUPTI's own headers. A runtime call and the driver's beneath it share one correlation
// id (CUPTI User Guide).
TEST(CudartDriver, ListenersAreToldOfRuntimeCalls) {
    void* memory = nullptr;
    {
        const Listening listening;
        ASSERT_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
        ASSERT_EQ(cudaMalloc(&memory, size_t{1} << 50), cudaErrorMemoryAllocation);
    }
    cudaGetLastError();
    ASSERT_EQ(seen.size(), 4u);
    EXPECT_EQ(seen[0].domain, vgpu::ApiDomain::driver);
    EXPECT_EQ(seen[0].cbid, static_cast<uint32_t>(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
    EXPECT_EQ(seen[1].domain, vgpu::ApiDomain::runtime);
    EXPECT_EQ(seen[1].function, "cudaMalloc");
    EXPECT_EQ(seen[1].bytes, 4096u);
    EXPECT_EQ(seen[1].correlation, seen[0].correlation);
    EXPECT_EQ(seen[3].result, cudaErrorMemoryAllocation);
    EXPECT_NE(seen[3].correlation, seen[1].correlation);
}

TEST(CudartDriver, PerThreadVariantsUseTheThreadsOwnStream) {
    char* memory = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 64), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync_ptsz(memory, 3, 64, nullptr), cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(cudaStreamPerThread, &graph), cudaSuccess);
    size_t nodes = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    EXPECT_EQ(nodes, 1u) << "stream 0 was the thread's own";
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    char byte = 5;
    EXPECT_EQ(cudaMemcpy_ptds(memory, &byte, 1, cudaMemcpyHostToDevice), cudaSuccess);
    byte = 0;
    EXPECT_EQ(cudaMemcpy_ptds(&byte, memory, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(byte, 5);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

using CudartDriverLaunch = FlashKernel;

TEST_F(CudartDriverLaunch, ListenersAreToldTheKernel) {
    cudaKernel_t kernel = nullptr;
    ASSERT_EQ(__cudaGetKernel(&kernel, flash()), cudaSuccess);
    {
        const Listening listening;
        ASSERT_EQ(cudaLaunchKernel(flash(), dim3(1), dim3(128), arguments_, 0, nullptr), cudaSuccess);
        ASSERT_EQ(__cudaLaunchKernel(kernel, dim3(1), dim3(128), arguments_, 0, nullptr), cudaSuccess);
    }
    ASSERT_EQ(seen.size(), 4u) << "one driver launch under each, and nothing else";
    for (size_t i = 0; i < 4; i += 2) {
        EXPECT_EQ(seen[i].domain, vgpu::ApiDomain::driver);
        EXPECT_EQ(seen[i].cbid, static_cast<uint32_t>(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
        EXPECT_EQ(seen[i + 1].symbol, resources().name);
        EXPECT_EQ(seen[i].correlation, seen[i + 1].correlation);
    }
    EXPECT_EQ(seen[1].cbid, static_cast<uint32_t>(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
    EXPECT_EQ(seen[3].cbid, static_cast<uint32_t>(CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000));
}

}  // namespace
}  // namespace attnscope::cudart_test
