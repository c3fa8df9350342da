// Graphs through the runtime: capture, and nodes added by hand. Right values: the CUDA Runtime API
// documentation.
#include <cuda_runtime_api.h>

#include <optional>
#include <string>

#include "cudart_kernels.h"

namespace attnscope::cudart_test {
namespace {

using CudartGraph = FlashKernel;

TEST_F(CudartGraph, CaptureThenReplay) {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    char* memory = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 64), cudaSuccess);
    ASSERT_EQ(cudaMemset(memory, 1, 64), cudaSuccess);

    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(memory, 2, 64, stream), cudaSuccess);
    ASSERT_EQ(cudaLaunchKernel(flash(), dim3(2, 1, 8), dim3(128), arguments_, 49152, stream), cudaSuccess);
    cudaStreamCaptureStatus status{};
    cudaGraph_t capturing = nullptr;
    unsigned long long id = 0;
    const cudaGraphNode_t* dependencies = nullptr;
    size_t count = 0;
    ASSERT_EQ(cudaStreamGetCaptureInfo(stream, &status, &id, &capturing, &dependencies, nullptr, &count),
              cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_EQ(count, 1u);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);

    char byte = 0;
    ASSERT_EQ(cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(byte, 1) << "what is captured does not run";

    size_t nodes = 0;
    ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    ASSERT_EQ(nodes, 2u);
    cudaGraphNode_t both[2];
    ASSERT_EQ(cudaGraphGetNodes(graph, both, &nodes), cudaSuccess);
    cudaGraphNode_t kernel = nullptr;
    for (const cudaGraphNode_t node : both) {
        cudaGraphNodeType type{};
        ASSERT_EQ(cudaGraphNodeGetType(node, &type), cudaSuccess);
        if (type == cudaGraphNodeTypeKernel) kernel = node;
    }
    ASSERT_NE(kernel, nullptr);
    cudaKernelNodeParams p{};
    ASSERT_EQ(cudaGraphKernelNodeGetParams(kernel, &p), cudaSuccess);
    EXPECT_EQ(p.func, flash()) << "a node names its kernel by the host function";
    EXPECT_EQ(p.gridDim.z, 8u);
    EXPECT_EQ(p.sharedMemBytes, 49152u);
    size_t before = 0;
    ASSERT_EQ(cudaGraphNodeGetDependencies(kernel, nullptr, nullptr, &before), cudaSuccess);
    EXPECT_EQ(before, 1u);

    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CudartGraph, NodesByHand) {
    const std::string text = "through a graph";
    std::string back(text.size(), '?');
    char* memory = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 64), cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);

    cudaGraphNode_t up = nullptr;
    ASSERT_EQ(cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, memory, text.data(), text.size(),
                                       cudaMemcpyHostToDevice),
              cudaSuccess);
    cudaGraphNodeParams down_params{};
    down_params.type = cudaGraphNodeTypeMemcpy;
    down_params.memcpy.copyParams.srcPtr = {memory, text.size(), text.size(), 1};
    down_params.memcpy.copyParams.dstPtr = {back.data(), text.size(), text.size(), 1};
    down_params.memcpy.copyParams.extent = {text.size(), 1, 1};
    down_params.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    cudaGraphNode_t down = nullptr;
    ASSERT_EQ(cudaGraphAddNode(&down, graph, &up, nullptr, 1, &down_params), cudaSuccess);
    cudaKernelNodeParams kernel_params{
        const_cast<void*>(flash()), dim3(2, 1, 8), dim3(128), 49152, arguments_, nullptr};
    cudaGraphNode_t kernel = nullptr;
    ASSERT_EQ(cudaGraphAddKernelNode(&kernel, graph, &down, 1, &kernel_params), cudaSuccess);
    int calls = 0;
    const cudaHostNodeParams host_params{[](void* counter) { ++*static_cast<int*>(counter); }, &calls};
    cudaGraphNode_t host = nullptr;
    ASSERT_EQ(cudaGraphAddHostNode(&host, graph, &kernel, 1, &host_params), cudaSuccess);

    cudaMemcpy3DParms read_back{};
    ASSERT_EQ(cudaGraphMemcpyNodeGetParams(up, &read_back), cudaSuccess);
    EXPECT_EQ(read_back.kind, cudaMemcpyHostToDevice);
    EXPECT_EQ(read_back.extent.width, text.size());
    EXPECT_EQ(read_back.dstPtr.ptr, memory);

    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
    kernel_params.gridDim = dim3(4);
    EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, kernel, &kernel_params), cudaSuccess);
    kernel_params.gridDim = dim3(1, 65536);
    EXPECT_NE(cudaGraphExecKernelNodeSetParams(exec, kernel, &kernel_params), cudaSuccess);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(back, text);
    EXPECT_EQ(calls, 3);
    cudaGraphExecUpdateResultInfo update{};
    EXPECT_EQ(cudaGraphExecUpdate(exec, graph, &update), cudaSuccess);
    EXPECT_EQ(update.result, cudaGraphExecUpdateSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    cudaGetLastError();
}

// Programming Guide, "Graph Memory Nodes": a graph's destruction does not free what it allocated; with auto
// free a launch first frees what the one before left.
TEST(CudartCapture, AllocationOutlivesItsGraph) {
    cudaStream_t stream = nullptr;
    void* memory = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ASSERT_EQ(cudaMallocAsync(&memory, 4096, stream), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(memory, 7, 4096, stream), cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch), cudaSuccess);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    char byte = 0;
    EXPECT_EQ(cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(byte, 7);
    EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
}

// Programming Guide, "Prohibited and Unhandled Operations": a synchronous call during capture invalidates it.
TEST(CudartCapture, SynchronisingEndsIt) {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    cudaStreamCaptureStatus status{};
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
}

TEST(CudartCapture, ModeIsExchanged) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
}

}  // namespace
}  // namespace attnscope::cudart_test
