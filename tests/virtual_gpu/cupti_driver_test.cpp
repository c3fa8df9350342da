// The Activity API under a program of the driver API: what was launched is what was recorded. Right values:
// the launches made here, the device table's H100-SXM5 (132 SMs, compute capability 9.0), the flash kernel's
// 255 registers (a real H100's trace).
#include <cupti.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "core_support.h"
#include "cupti_client.h"

namespace {

using namespace core_test;
using cupti_client::client;
using cupti_client::dropped;

class CuptiDriver : public Driver {
  protected:
    void SetUp() override {
        cuptiFinalize();
        client.clear();
        client.max_records = 0;
        dropped();
        ASSERT_EQ(CUPTI_SUCCESS,
                  cuptiActivityRegisterCallbacks(cupti_client::request, cupti_client::complete));
        ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE));
        Driver::SetUp();
    }
    void TearDown() override {
        cuptiFinalize();
        client.clear();
        Driver::TearDown();
    }
    void load() {
        if (flash_fatbin() == nullptr) GTEST_SKIP() << "no LibTorch: no kernels to launch";
        ASSERT_CUDA(cuModuleLoadData(&module_, flash_fatbin()));
        ASSERT_CUDA(cuModuleGetFunction(&function_, module_, flash_kernel));
        size_t offset = 0, bytes = 0;
        ASSERT_CUDA(cuFuncGetParamInfo(function_, 0, &offset, &bytes));
        parameters_.assign(bytes, 0);
        values_[0] = parameters_.data();
    }
    CUresult launch(CUstream stream, unsigned grid_y = 4) {
        return cuLaunchKernel(function_, 16, grid_y, 2, 128, 1, 1, 4096, stream, values_, nullptr);
    }
    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
    std::vector<char> parameters_;
    void* values_[1] = {};
};

// First in the file: device records come at the end of cuInit.
TEST_F(CuptiDriver, DeviceRecordsAtInitialisation) {
    cuptiActivityFlushAll(0);
    const auto devices = client.all<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
    ASSERT_EQ(2u, devices.size());
    EXPECT_EQ(132u, devices[0].numMultiprocessors);
    EXPECT_EQ(9u, devices[0].computeCapabilityMajor);
    EXPECT_EQ(233472u, devices[0].maxSharedMemoryPerMultiprocessor);
    EXPECT_EQ(1u, devices[1].id);
    EXPECT_STREQ("NVIDIA H100 80GB HBM3", devices[0].name);
}

// The value, through the whole driver: 1,000,000 launches from 8 threads and streams, exactly.
TEST_F(CuptiDriver, MillionLaunchesOnEightStreams) {
    load();
    if (IsSkipped()) return;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1));
    constexpr size_t threads = 8, each = 125'000;
    std::map<uint32_t, size_t> expected, seen;
    std::vector<CUstream> streams(threads);
    for (CUstream& stream : streams) {
        ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        uint32_t id = 0;
        ASSERT_EQ(CUPTI_SUCCESS, cuptiGetStreamIdEx(context_, stream, 0, &id));
        expected[id] = each;
    }
    ASSERT_EQ(threads, expected.size()) << "ids of streams differ";
    std::atomic<size_t> failures{0};
    std::vector<std::thread> workers;
    for (CUstream stream : streams)
        workers.emplace_back([&, stream] {
            cuCtxSetCurrent(context_);
            for (size_t i = 0; i < each; ++i) failures += launch(stream) != CUDA_SUCCESS;
        });
    for (std::thread& worker : workers) worker.join();
    ASSERT_EQ(0u, failures);
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    std::set<uint32_t> kernels, calls;
    client.each([&](const CUpti_Activity* record) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
            ++seen[kernel->streamId];
            kernels.insert(kernel->correlationId);
        } else if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
            calls.insert(reinterpret_cast<const CUpti_ActivityAPI*>(record)->correlationId);
        }
    });
    EXPECT_EQ(expected, seen);
    EXPECT_EQ(threads * each, kernels.size());
    EXPECT_TRUE(kernels == calls) << "each kernel has its own API call";
    EXPECT_EQ(0u, dropped());
    for (CUstream stream : streams) cuStreamDestroy(stream);
}

TEST_F(CuptiDriver, ResourcesIdsAndRefusedLaunches) {
    load();
    if (IsSkipped()) return;
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
    ASSERT_CUDA(launch(nullptr));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch(nullptr, 65536));
    uint32_t context = 0, stream = 0, device = 9;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiGetContextId(context_, &context));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiGetStreamIdEx(context_, nullptr, 0, &stream));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiGetDeviceId(context_, &device));
    EXPECT_EQ(0u, device);
    EXPECT_EQ(CUPTI_ERROR_INVALID_STREAM,
              cuptiGetStreamIdEx(nullptr, reinterpret_cast<CUstream>(0x1234), 0, &stream));
    cuptiActivityFlushAll(0);
    const auto kernels = client.all<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    ASSERT_EQ(1u, kernels.size()) << "a refused launch has no kernel";
    EXPECT_EQ(255, kernels[0].registersPerThread);
    EXPECT_EQ(0, kernels[0].staticSharedMemory);
    EXPECT_EQ(4096, kernels[0].dynamicSharedMemory);
    EXPECT_STREQ(flash_kernel, kernels[0].name);
    EXPECT_EQ(context, kernels[0].contextId);
    EXPECT_EQ(stream, kernels[0].streamId);
    std::vector<uint32_t> results;
    for (const auto& call : client.all<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER))
        if (call.cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) results.push_back(call.returnValue);
    EXPECT_EQ((std::vector<uint32_t>{CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE}), results);
    // The stand-in's own questions to the driver leave no trace.
    for (const auto& call : client.all<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER)) {
        EXPECT_NE(CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2, call.cbid);
        EXPECT_NE(CUPTI_DRIVER_TRACE_CBID_cuStreamGetId, call.cbid);
    }
}

// A launched graph: each kernel node is a record with the launch's correlation id and its own node id.
TEST_F(CuptiDriver, GraphNodes) {
    load();
    if (IsSkipped()) return;
    CUstream stream = nullptr;
    ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < 3; ++i) ASSERT_CUDA(launch(stream));
    ASSERT_CUDA(cuStreamEndCapture(stream, &graph));
    cuptiActivityFlushAll(0);
    EXPECT_EQ(0u, client.count()[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) << "captured, not launched";
    ASSERT_CUDA(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 2; ++i) ASSERT_CUDA(cuGraphLaunch(executable, stream));
    cuptiActivityFlushAll(0);
    std::map<uint32_t, std::set<uint64_t>> nodes;
    for (const auto& kernel : client.all<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) {
        EXPECT_NE(0u, kernel.graphId);
        nodes[kernel.correlationId].insert(kernel.graphNodeId);
    }
    ASSERT_EQ(2u, nodes.size());
    for (const auto& [correlation, ids] : nodes) EXPECT_EQ(3u, ids.size());
    cuGraphExecDestroy(executable);
    cuGraphDestroy(graph);
    cuStreamDestroy(stream);
}

// A client that comes late asks for what is there already.
TEST_F(CuptiDriver, DumpOfContextsAndStreams) {
    CUstream stream = nullptr;
    ASSERT_CUDA(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_STREAM));
    cuptiActivityFlushAll(0);
    uint32_t context = 0, id = 0, null_stream = 0;
    cuptiGetContextId(context_, &context);
    cuptiGetStreamIdEx(context_, stream, 0, &id);
    cuptiGetStreamIdEx(context_, nullptr, 0, &null_stream);
    bool context_seen = false, stream_seen = false;
    for (const auto& record : client.all<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT))
        if (record.contextId == context) {
            context_seen = true;
            EXPECT_EQ(0u, record.deviceId);
            EXPECT_EQ(null_stream, record.nullStreamId);
        }
    for (const auto& record : client.all<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM))
        if (record.streamId == id) {
            stream_seen = true;
            EXPECT_EQ(CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, record.flag);
            EXPECT_EQ(-1, static_cast<int>(record.priority));
        }
    EXPECT_TRUE(context_seen);
    EXPECT_TRUE(stream_seen);
    cuStreamDestroy(stream);
}

TEST_F(CuptiDriver, CopiesMemsetsAndSynchronisations) {
    for (const auto kind :
         {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION})
        cuptiActivityEnable(kind);
    CUdeviceptr a = 0, b = 0;
    ASSERT_CUDA(cuMemAlloc(&a, 1 << 20));
    ASSERT_CUDA(cuMemAlloc(&b, 1 << 20));
    std::vector<char> host(1 << 20);
    ASSERT_CUDA(cuMemcpyHtoD(a, host.data(), 1 << 20));
    ASSERT_CUDA(cuMemcpyDtoDAsync(b, a, 1 << 19, nullptr));
    ASSERT_CUDA(cuMemsetD8Async(b, 7, 4096, nullptr));
    ASSERT_CUDA(cuCtxSynchronize());
    cuptiActivityFlushAll(0);
    std::map<int, uint64_t> bytes;
    for (const auto& copy : client.all<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY))
        bytes[copy.copyKind] += copy.bytes;
    EXPECT_EQ((std::map<int, uint64_t>{{CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1 << 20},
                                       {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, 1 << 19}}),
              bytes);
    const auto sets = client.all<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
    ASSERT_EQ(1u, sets.size());
    EXPECT_EQ(4096u, sets[0].bytes);
    EXPECT_EQ(7u, sets[0].value);
    size_t context_syncs = 0;
    for (const auto& sync : client.all<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) {
        context_syncs += sync.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
        EXPECT_LE(sync.start, sync.end);
    }
    EXPECT_EQ(1u, context_syncs);
    cuMemFree(a);
    cuMemFree(b);
}

}  // namespace
