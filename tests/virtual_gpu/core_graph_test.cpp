// Stream capture, graphs made by hand, and their replay. Error codes: cuda.h and the programming guide, "CUDA
// Graphs".
#include <thread>

#include "collectors/virtual_gpu/core/api.h"
#include "core_support.h"

namespace {

using namespace core_test;

class Graph : public Driver {
  protected:
    void SetUp() override {
        Driver::SetUp();
        ASSERT_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
        ASSERT_CUDA(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING));
        ASSERT_CUDA(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
        ASSERT_CUDA(cuMemAlloc(&memory_, 4096));
    }
    void TearDown() override {
        cuMemFree(memory_);
        cuEventDestroy(event_);
        cuStreamDestroy(stream_);
        cuStreamDestroy(other_);
        Driver::TearDown();
    }
    CUgraphExec instantiate(CUgraph graph) {
        CUgraphExec exec = nullptr;
        EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph, 0));
        return exec;
    }
    size_t node_count(CUgraph graph) {
        size_t count = 0;
        EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, &count));
        return count;
    }
    CUstream stream_ = nullptr, other_ = nullptr;
    CUevent event_ = nullptr;
    CUdeviceptr memory_ = 0;
};

TEST_F(Graph, CapturedWorkRunsAtEachLaunch) {
    Ears ears;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel k\n"));
    ASSERT_CUDA(cuModuleGetFunction(&function, module, "k"));
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASSERT_CUDA(cuMemsetD8Async(memory_, 1, 4096, stream_));
    ASSERT_CUDA(cuLaunchKernel(function, 3, 1, 1, 32, 1, 1, 0, stream_, nullptr, nullptr));
    ASSERT_CUDA(cuMemcpyDtoDAsync(memory_, memory_ + 2048, 100, stream_));
    attnscope::vgpu::issue_library_call(stream_, {"cuBLAS", "cublasGemmEx", "gemm", {}, {}});
    CUstreamCaptureStatus status{};
    ASSERT_CUDA(cuStreamIsCapturing(stream_, &status));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
    EXPECT_EQ(node_count(graph), 4u);
    EXPECT_TRUE(ears.kernels.empty() && ears.sets.empty() && ears.copies.empty() &&
                ears.library_calls.empty());

    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 3; i++) ASSERT_CUDA(cuGraphLaunch(exec, stream_));
    ASSERT_EQ(ears.kernels.size(), 3u);
    EXPECT_EQ(ears.sets.size(), 3u);
    EXPECT_EQ(ears.copies.size(), 3u);
    EXPECT_EQ(ears.library_calls.size(), 3u);
    // All nodes of one launch share its correlation; graph and node are told.
    EXPECT_EQ(ears.kernels[0].correlation, ears.sets[0].correlation);
    EXPECT_NE(ears.kernels[0].correlation, ears.kernels[1].correlation);
    EXPECT_NE(ears.kernels[0].graph_id, 0u);
    EXPECT_EQ(ears.kernels[0].graph_id, ears.copies[2].graph_id);
    EXPECT_EQ(ears.kernels[0].graph_node_id, ears.kernels[2].graph_node_id);
    EXPECT_NE(ears.kernels[0].graph_node_id, ears.sets[0].graph_node_id);
    EXPECT_EQ(ears.kernels[0].grid.x, 3u);
    ASSERT_CUDA(cuGraphExecDestroy(exec));
    ASSERT_CUDA(cuGraphDestroy(graph));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream_));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
    EXPECT_CUDA(cuModuleUnload(module));
}

TEST_F(Graph, AnEventTakesAnotherStreamAlong) {
    Ears ears;
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASSERT_CUDA(cuMemsetD8Async(memory_, 1, 16, stream_));
    ASSERT_CUDA(cuEventRecord(event_, stream_));
    EXPECT_CUDA_ERROR(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event_));
    ASSERT_CUDA(cuStreamWaitEvent(other_, event_, 0));
    ASSERT_CUDA(cuMemsetD8Async(memory_ + 16, 2, 16, other_));
    ASSERT_CUDA(cuMemsetD8Async(memory_ + 32, 3, 16, stream_));
    CUevent join = nullptr;
    ASSERT_CUDA(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    ASSERT_CUDA(cuEventRecord(join, other_));
    ASSERT_CUDA(cuStreamWaitEvent(stream_, join, 0));
    ASSERT_CUDA(cuMemsetD8Async(memory_ + 48, 4, 16, stream_));
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
    EXPECT_EQ(node_count(graph), 4u);
    size_t edges = 0;
    ASSERT_CUDA(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT_EQ(edges, 4u);  // a diamond
    CUstreamCaptureStatus status{};
    ASSERT_CUDA(cuStreamIsCapturing(other_, &status));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    ASSERT_CUDA(cuGraphDestroy(graph));
    cuEventDestroy(join);
}

TEST_F(Graph, UnjoinedWorkAndWrongStreams) {
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASSERT_CUDA(cuEventRecord(event_, stream_));
    ASSERT_CUDA(cuStreamWaitEvent(other_, event_, 0));
    ASSERT_CUDA(cuMemsetD8Async(memory_, 2, 16, other_));
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(other_, &graph));
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(stream_, &graph));
    EXPECT_EQ(graph, nullptr);
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream_, &graph));
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

TEST_F(Graph, ForbiddenCallsInvalidate) {
    const auto capture = [&](auto&& forbidden, const char* error) {
        CUgraph graph = nullptr;
        ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
        EXPECT_EQ(name(forbidden()), error);
        EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD8Async(memory_, 1, 16, stream_));
        EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &graph));
        EXPECT_EQ(graph, nullptr);
    };
    CUdeviceptr more = 0;
    const char* unsupported = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    capture([&] { return cuStreamSynchronize(stream_); }, unsupported);
    capture([&] { return cuStreamQuery(stream_); }, unsupported);
    capture([&] { return cuCtxSynchronize(); }, unsupported);
    capture([&] { return cuMemAlloc(&more, 16); }, unsupported);
    capture([&] { return cuMemcpyHtoD(memory_, &more, 4); }, unsupported);
    ASSERT_CUDA(cuEventRecord(event_, other_));
    capture([&] { return cuStreamWaitEvent(stream_, event_, 0); }, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION");
}

TEST_F(Graph, RelaxedThreadsMayAllocate) {
    CUgraph graph = nullptr;
    CUdeviceptr more = 0;
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT_CUDA(cuMemAlloc(&more, 16));
    ASSERT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
    // Another thread is in global mode too, so the capture binds it.
    CUresult elsewhere = CUDA_SUCCESS;
    std::thread([&] {
        cuCtxSetCurrent(context_);
        CUdeviceptr pointer = 0;
        elsewhere = cuMemAlloc(&pointer, 16);
    }).join();
    EXPECT_EQ(name(elsewhere), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
    cuStreamEndCapture(stream_, &graph);
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    std::thread([&] {
        cuCtxSetCurrent(context_);
        CUdeviceptr pointer = 0;
        elsewhere = cuMemAlloc(&pointer, 16);
        cuMemFree(pointer);
    }).join();
    EXPECT_EQ(name(elsewhere), "CUDA_SUCCESS");
    ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
    ASSERT_CUDA(cuGraphDestroy(graph));
    EXPECT_CUDA(cuMemFree(more));
}

TEST_F(Graph, TheLegacyStreamWouldWaitForABlockingOne) {
    CUstream blocking = nullptr;
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    ASSERT_CUDA(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD8Async(memory_, 1, 16, nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
    cuStreamDestroy(blocking);
}

TEST_F(Graph, MadeByHandUpdatedAndCloned) {
    Ears ears;
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS set{};
    set.dst = memory_;
    set.value = 9;
    set.elementSize = 1;
    set.width = 64;
    set.height = 1;
    CUgraphNode first = nullptr, second = nullptr, empty = nullptr, host = nullptr;
    ASSERT_CUDA(cuGraphAddMemsetNode(&first, graph, nullptr, 0, &set, context_));
    ASSERT_CUDA(cuGraphAddEmptyNode(&empty, graph, &first, 1));
    set.dst = memory_ + 64;
    ASSERT_CUDA(cuGraphAddMemsetNode(&second, graph, &empty, 1, &set, context_));
    static std::atomic<int> calls{0};
    calls = 0;
    CUDA_HOST_NODE_PARAMS function{[](void*) { calls++; }, nullptr};
    ASSERT_CUDA(cuGraphAddHostNode(&host, graph, &second, 1, &function));
    CUgraph clone = nullptr;
    ASSERT_CUDA(cuGraphClone(&clone, graph));
    CUgraphNode twin = nullptr;
    ASSERT_CUDA(cuGraphNodeFindInClone(&twin, second, clone));
    EXPECT_NE(twin, second);
    CUgraphNodeType type{};
    ASSERT_CUDA(cuGraphNodeGetType(twin, &type));
    EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);

    CUgraphExec exec = instantiate(graph);
    ASSERT_CUDA(cuGraphLaunch(exec, stream_));
    ASSERT_CUDA(cuStreamSynchronize(stream_));
    EXPECT_EQ(calls, 1);
    unsigned char bytes[2];
    ASSERT_CUDA(cuMemcpyDtoH(&bytes[0], memory_ + 63, 1));
    ASSERT_CUDA(cuMemcpyDtoH(&bytes[1], memory_ + 64, 1));
    EXPECT_EQ(bytes[0], 9);
    EXPECT_EQ(bytes[1], 9);

    set.value = 4;
    ASSERT_CUDA(cuGraphExecMemsetNodeSetParams(exec, second, &set, context_));
    ASSERT_CUDA(cuGraphNodeSetEnabled(exec, first, 0));
    ASSERT_CUDA(cuMemsetD8(memory_, 0, 64));
    ears.sets.clear();
    ASSERT_CUDA(cuGraphLaunch(exec, stream_));
    ASSERT_EQ(ears.sets.size(), 1u);
    EXPECT_EQ(ears.sets[0].value, 4u);

    set.value = 5;
    ASSERT_CUDA(cuGraphMemsetNodeSetParams(twin, &set));
    CUgraphExecUpdateResultInfo info{};
    ASSERT_CUDA(cuGraphExecUpdate(exec, clone, &info));
    ears.sets.clear();
    ASSERT_CUDA(cuGraphLaunch(exec, stream_));
    EXPECT_EQ(ears.sets.back().value, 5u);
    CUgraphNode extra = nullptr;
    ASSERT_CUDA(cuGraphAddEmptyNode(&extra, clone, nullptr, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, clone, &info));
    EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

    CUgraph parent = nullptr;
    CUgraphNode child = nullptr;
    ASSERT_CUDA(cuGraphCreate(&parent, 0));
    ASSERT_CUDA(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
    CUgraph inner = nullptr;
    ASSERT_CUDA(cuGraphChildGraphNodeGetGraph(child, &inner));
    EXPECT_EQ(node_count(inner), 4u);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(inner));
    CUgraphExec whole = instantiate(parent);
    ears.sets.clear();
    ASSERT_CUDA(cuGraphLaunch(whole, stream_));
    EXPECT_EQ(ears.sets.size(), 2u);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &second, &second, nullptr, 1));
    for (CUgraph g : {graph, clone, parent}) EXPECT_CUDA(cuGraphDestroy(g));
    for (CUgraphExec e : {exec, whole}) EXPECT_CUDA(cuGraphExecDestroy(e));
}

TEST_F(Graph, MemoryOfAGraph) {
    size_t before = 0, after = 0, total = 0;
    ASSERT_CUDA(cuMemGetInfo(&before, &total));
    CUdeviceptr inside = 0, kept = 0;
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASSERT_CUDA(cuMemAllocAsync(&inside, 4 << 20, stream_));
    ASSERT_CUDA(cuMemAllocAsync(&kept, 4 << 20, stream_));
    ASSERT_CUDA(cuMemsetD8Async(inside, 3, 100, stream_));
    ASSERT_CUDA(cuMemcpyDtoDAsync(kept, inside, 100, stream_));
    ASSERT_CUDA(cuMemFreeAsync(inside, stream_));
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemFree(kept)) << "not allocated before a launch";
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 2; i++) {
        ASSERT_CUDA(cuGraphLaunch(exec, stream_));
        char byte = 0;
        ASSERT_CUDA(cuMemcpyDtoH(&byte, kept + 99, 1));
        EXPECT_EQ(byte, 3);
        if (i == 0) {
            ASSERT_CUDA(cuMemFreeAsync(kept, stream_));
        }
    }
    ASSERT_CUDA(cuGraphExecDestroy(exec));
    ASSERT_CUDA(cuGraphDestroy(graph));
    char byte = 0;
    EXPECT_CUDA(cuMemcpyDtoH(&byte, kept, 1));  // what the last launch allocated outlives the graph
    EXPECT_CUDA(cuMemFree(kept));
    ASSERT_CUDA(cuMemGetInfo(&after, &total));
    EXPECT_EQ(before, after);
}

TEST_F(Graph, CirclesAreRefused) {
    CUgraph graph = nullptr;
    CUgraphNode a = nullptr, b = nullptr;
    CUgraphExec exec = nullptr;
    ASSERT_CUDA(cuGraphCreate(&graph, 0));
    ASSERT_CUDA(cuGraphAddEmptyNode(&a, graph, nullptr, 0));
    ASSERT_CUDA(cuGraphAddEmptyNode(&b, graph, &a, 1));
    ASSERT_CUDA(cuGraphAddDependencies(graph, &b, &a, nullptr, 1));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT_CUDA(cuGraphDestroy(graph));
}

TEST_F(Graph, KernelParametersAreThoseOfTheCapture) {
    if (flash_fatbin() == nullptr) GTEST_SKIP() << "no LibTorch: no kernels to launch";
    Ears ears;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, flash_fatbin()));
    ASSERT_CUDA(cuModuleGetFunction(&function, module, flash_kernel));
    std::vector<char> parameters(4096, 0);
    memcpy(parameters.data(), &memory_, sizeof memory_);
    void* values[] = {parameters.data()};
    ASSERT_CUDA(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASSERT_CUDA(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream_, values, nullptr));
    CUgraph graph = nullptr;
    ASSERT_CUDA(cuStreamEndCapture(stream_, &graph));
    std::fill(parameters.begin(), parameters.end(), '\0');  // the program's own copy is long gone at replay
    size_t one = 1;
    CUgraphNode node = nullptr;
    ASSERT_CUDA(cuGraphGetNodes(graph, &node, &one));
    CUDA_KERNEL_NODE_PARAMS kept{};
    ASSERT_CUDA(cuGraphKernelNodeGetParams(node, &kept));
    EXPECT_EQ(kept.func, function);
    CUdeviceptr pointer = 0;
    memcpy(&pointer, kept.kernelParams[0], sizeof pointer);
    EXPECT_EQ(pointer, memory_);
    CUgraphExec exec = instantiate(graph);
    ASSERT_CUDA(cuMemsetD8(memory_, 1, 64));
    char byte;
    ASSERT_CUDA(cuMemcpyDtoH(&byte, memory_, 1));
    EXPECT_TRUE(ears.reads.empty());
    ASSERT_CUDA(cuGraphLaunch(exec, stream_));
    ASSERT_CUDA(cuMemcpyDtoH(&byte, memory_, 1));
    EXPECT_EQ(ears.reads.size(), 1u);
    EXPECT_CUDA(cuGraphExecDestroy(exec));
    EXPECT_CUDA(cuGraphDestroy(graph));
    EXPECT_CUDA(cuModuleUnload(module));
}

}  // namespace
