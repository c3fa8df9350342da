// Activity records of libcupti's stand-in, and which are made. Right values: cupti_activity.h of CUPTI 13.0,
// as quoted at each test.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "cupti_fixture.h"

namespace {

using namespace attnscope::vgpu;
using namespace cupti_client;

TEST_F(CuptiActivity, KernelRecordIsComplete) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch();
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityFlushAll(0));
    const auto kernels = client.all<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    ASSERT_EQ(1u, kernels.size());
    const CUpti_ActivityKernel10& kernel = kernels[0];
    EXPECT_STREQ("_Z6kernelv", kernel.name);
    EXPECT_EQ(16, kernel.gridX);
    EXPECT_EQ(4, kernel.gridY);
    EXPECT_EQ(2, kernel.gridZ);
    EXPECT_EQ(128, kernel.blockX);
    EXPECT_EQ(2u, kernel.clusterX);
    EXPECT_EQ(255, kernel.registersPerThread);
    EXPECT_EQ(1024, kernel.staticSharedMemory);
    EXPECT_EQ(49152, kernel.dynamicSharedMemory);
    EXPECT_EQ(24u, kernel.localMemoryPerThread);
    EXPECT_EQ(1u, kernel.contextId);
    EXPECT_EQ(7u, kernel.streamId);
    EXPECT_EQ(1, kernel.launchType);
    EXPECT_EQ(3u, kernel.graphId);
    EXPECT_EQ(99u, kernel.graphNodeId);
    EXPECT_EQ(102400u, kernel.sharedMemoryExecuted);
    EXPECT_EQ(CUPTI_FUNC_SHMEM_LIMIT_OPTIN, kernel.shmemLimitConfig);
    EXPECT_NE(0u, kernel.correlationId);
    // "A value of 0 for both ... could not be collected": nobody measured.
    EXPECT_EQ(0u, kernel.start);
    EXPECT_EQ(0u, kernel.end);
}

// KIND_KERNEL and CONCURRENT_KERNEL share the record; the kind field says which was asked for.
TEST_F(CuptiActivity, SerialKernelKind) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL));
    launch();
    cuptiActivityFlushAll(0);
    EXPECT_EQ((std::map<int, size_t>{{CUPTI_ACTIVITY_KIND_KERNEL, 1}}), client.count());
}

// Source of "a launch through the runtime has one API record": a real H100's trace, h100-bert-small, where 38
// runtime launches and cuBLAS's own 22 driver launches are the 60 kernels.
TEST_F(CuptiActivity, ApiRecordsAreMeasuredAndNamed) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    uint64_t before = 0, after = 0;
    cuptiGetTimestamp(&before);
    {
        ApiScope runtime(ApiDomain::runtime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
                         "cudaLaunchKernel", nullptr);
        launch();  // the runtime's own driver call: no record of its own
        runtime.done(719);
    }
    launch();  // the program's driver call
    cuptiGetTimestamp(&after);
    cuptiActivityFlushAll(0);
    const auto driver = client.all<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
    const auto runtime = client.all<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
    ASSERT_EQ(1u, driver.size());
    ASSERT_EQ(1u, runtime.size());
    EXPECT_LT(runtime[0].correlationId, driver[0].correlationId);
    EXPECT_EQ(719u, runtime[0].returnValue);
    EXPECT_EQ(505u, runtime[0].cbid);
    EXPECT_EQ(static_cast<uint32_t>(getpid()), runtime[0].processId);
    EXPECT_EQ(static_cast<uint32_t>(syscall(SYS_gettid)), runtime[0].threadId);
    EXPECT_LE(before, runtime[0].start);
    EXPECT_LE(runtime[0].start, runtime[0].end);
    EXPECT_LE(runtime[0].end, driver[0].start);
    EXPECT_LE(driver[0].end, after);
    cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
}

// cuptiActivityEnableDriverApi: single functions; the kind overrides when it is called after.
TEST_F(CuptiActivity, SingleApiFunctions) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1));
    launch();
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
    cuptiActivityFlushAll(0);
    EXPECT_EQ(1u, client.count()[CUPTI_ACTIVITY_KIND_DRIVER]);
    client.clear();
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
    cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 0);
    launch();
    launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
    cuptiActivityFlushAll(0);
    EXPECT_EQ(1u, client.count()[CUPTI_ACTIVITY_KIND_DRIVER]);
    client.clear();
    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
    launch();
    cuptiActivityFlushAll(0);
    EXPECT_TRUE(client.count().empty());
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_SIZE, 1));
}

// "the activity API record will be preceded by a CUpti_ActivityExternalCorrelation record for each" kind.
TEST_F(CuptiActivity, ExternalCorrelation) {
    const auto custom = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    uint64_t id = 0;
    EXPECT_EQ(CUPTI_ERROR_QUEUE_EMPTY, cuptiActivityPopExternalCorrelationId(custom, &id));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER,
              cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_INVALID, 1));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER,
              cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_SIZE, 1));
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    cuptiActivityPushExternalCorrelationId(custom, 41);
    cuptiActivityPushExternalCorrelationId(custom, 42);
    cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 7);
    std::thread(launch, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel).join();  // another thread has no ids
    launch();
    EXPECT_EQ(CUPTI_SUCCESS, cuptiActivityPopExternalCorrelationId(custom, &id));
    EXPECT_EQ(42u, id);
    EXPECT_EQ(CUPTI_SUCCESS, cuptiActivityPopExternalCorrelationId(custom, nullptr));
    EXPECT_EQ(CUPTI_SUCCESS,
              cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, nullptr));
    launch();
    cuptiActivityFlushAll(0);
    const auto ids = client.all<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    ASSERT_EQ(2u, ids.size());
    EXPECT_EQ(42u, ids[0].externalId);
    EXPECT_EQ(7u, ids[1].externalId);
    EXPECT_EQ(ids[0].correlationId, ids[1].correlationId);
    // Before the API record and before the kernel's, as clients that link while they read need it (Kineto).
    std::set<uint32_t> linked;
    size_t found = 0;
    client.each([&](const CUpti_Activity* record) {
        if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
            linked.insert(reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record)->correlationId);
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            found += linked.count(reinterpret_cast<const CUpti_ActivityKernel10*>(record)->correlationId);
        if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER)
            found += linked.count(reinterpret_cast<const CUpti_ActivityAPI*>(record)->correlationId);
    });
    EXPECT_EQ(2u, found);
}

TEST_F(CuptiActivity, CopiesMemsetsAndSynchronisations) {
    for (const auto kind : {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                            CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION})
        ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(kind));
    CopyEvent copy{};
    copy.correlation = 11;
    copy.bytes = 268'435'456;
    copy.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    copy.source_kind = copy.destination_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    copy.asynchronous = true;
    hooks()->copy(copy);
    copy.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    copy.destination_device = 1;
    hooks()->copy(copy);
    MemsetEvent set{};
    set.bytes = 64;
    set.value = 0xab;
    set.memory_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    hooks()->set(set);
    hooks()->synchronised({12, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, 1, 7, 0});
    cuptiActivityFlushAll(0);
    const auto copies = client.all<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
    ASSERT_EQ(1u, copies.size());
    EXPECT_EQ(268'435'456u, copies[0].bytes);
    EXPECT_EQ(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, copies[0].copyKind);
    EXPECT_EQ(CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC, copies[0].flags);
    EXPECT_EQ(1u, copies[0].copyCount);
    const auto peers = client.all<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
    ASSERT_EQ(1u, peers.size());
    EXPECT_EQ(0u, peers[0].srcDeviceId);
    EXPECT_EQ(1u, peers[0].dstDeviceId);
    const auto sets = client.all<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
    ASSERT_EQ(1u, sets.size());
    EXPECT_EQ(0xabu, sets[0].value);
    EXPECT_EQ(64u, sets[0].bytes);
    const auto syncs = client.all<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    ASSERT_EQ(1u, syncs.size());
    EXPECT_EQ(12u, syncs[0].correlationId);
    EXPECT_EQ(7u, syncs[0].streamId);
}

// cuptiActivityEnableContext, DisableContext: "will supersede the global settings".
TEST_F(CuptiActivity, OneContextSupersedesTheRest) {
    int handle = 0;
    const auto context = reinterpret_cast<CUcontext>(&handle);
    EXPECT_EQ(CUPTI_ERROR_INVALID_CONTEXT,
              cuptiActivityEnableContext(context, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    hooks()->resource(ResourceEvent::context_created, context, 1, nullptr, 0);
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnableContext(context, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    KernelEvent other = kernel_event(5);
    other.context_id = 2;
    launch();
    hooks()->kernel(other);
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityDisableContext(context, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    launch();
    hooks()->kernel(other);
    hooks()->resource(ResourceEvent::context_destroy_starting, context, 1, nullptr, 0);
    cuptiActivityFlushAll(0);
    std::vector<uint32_t> contexts;
    for (const auto& kernel : client.all<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
        contexts.push_back(kernel.contextId);
    EXPECT_EQ((std::vector<uint32_t>{1, 2}), contexts);
}

TEST_F(CuptiActivity, ArgumentsAndStates) {
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiActivityRegisterCallbacks(nullptr, cupti_client::complete));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiActivityRegisterCallbacks(cupti_client::request, nullptr));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiActivityRegisterTimestampCallback(nullptr));
    EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiActivityGetNumDroppedRecords(nullptr, 0, nullptr));
    EXPECT_EQ(CUPTI_ERROR_INVALID_KIND, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID));
    EXPECT_EQ(CUPTI_ERROR_INVALID_KIND, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT));
    EXPECT_EQ(CUPTI_ERROR_NOT_COMPATIBLE, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING));
    EXPECT_EQ(CUPTI_ERROR_NOT_COMPATIBLE, cuptiGetLastError());
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetLastError()) << "reading resets";
    cuptiFinalize();
    EXPECT_EQ(CUPTI_ERROR_INVALID_OPERATION, cuptiActivityFlushAll(0)) << "no callbacks registered";
}

uint64_t ticking() {
    static std::atomic<uint64_t> now{1000};
    return now += 10;
}

TEST_F(CuptiActivity, TimestampCallbackIsTheClock) {
    ASSERT_EQ(CUPTI_SUCCESS, cuptiActivityRegisterTimestampCallback(ticking));
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
    launch();
    cuptiActivityFlushAll(0);
    const auto calls = client.all<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
    ASSERT_EQ(1u, calls.size());
    EXPECT_EQ(10u, calls[0].end - calls[0].start);
    EXPECT_LT(calls[0].end, 100'000u);
}

}  // namespace
