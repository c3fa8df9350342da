// Streams, events, host functions, contexts.
#include <atomic>
#include <chrono>
#include <thread>

#include "core_support.h"

namespace {

using namespace core_test;
using Stream = Driver;

TEST_F(Stream, HostFunctionsRunInOrderAndOffTheCallersThread) {
    CUstream stream = nullptr;
    ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    static std::vector<int> order;
    static std::thread::id thread;
    static std::atomic<bool> gate{false};
    order.clear();
    ASSERT_CUDA(cuLaunchHostFunc(
        stream,
        [](void*) {
            while (!gate) std::this_thread::yield();
            order.push_back(1);
            thread = std::this_thread::get_id();
        },
        nullptr));
    ASSERT_CUDA(cuLaunchHostFunc(
        stream, [](void*) { order.push_back(2); }, nullptr));
    CUevent event = nullptr, earlier = nullptr;
    ASSERT_CUDA(cuEventCreate(&event, 0));
    ASSERT_CUDA(cuEventCreate(&earlier, 0));
    ASSERT_CUDA(cuEventRecord(event, stream));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    EXPECT_CUDA(cuStreamQuery(nullptr)) << "other streams do not wait";
    gate = true;
    ASSERT_CUDA(cuEventSynchronize(event));
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_NE(thread, std::this_thread::get_id());
    EXPECT_CUDA(cuStreamQuery(stream));
    cuEventDestroy(event);
    cuEventDestroy(earlier);
    cuStreamDestroy(stream);
}

TEST_F(Stream, AsynchronousCopiesWaitForTheHostFunctionBeforeThem) {
    CUstream stream = nullptr;
    CUdeviceptr memory = 0;
    ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuMemAlloc(&memory, 4));
    static int source = 1;
    static std::atomic<bool> gate{false};
    source = 1;
    gate = false;
    ASSERT_CUDA(cuLaunchHostFunc(
        stream,
        [](void*) {
            while (!gate) std::this_thread::yield();
            source = 2;
        },
        nullptr));
    ASSERT_CUDA(cuMemcpyHtoDAsync(memory, &source, 4, stream));
    gate = true;  // had the copy waited, it would wait for ever
    ASSERT_CUDA(cuStreamSynchronize(stream));
    int out = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&out, memory, 4));
    EXPECT_EQ(out, 2);
    cuMemFree(memory);
    cuStreamDestroy(stream);
}

TEST_F(Stream, NoTimeBelongsToEvents) {
    Ears ears;
    CUevent start = nullptr, end = nullptr;
    ASSERT_CUDA(cuEventCreate(&start, 0));
    ASSERT_CUDA(cuEventCreate(&end, 0));
    float milliseconds = -1;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE,
                      cuEventElapsedTime(&milliseconds, start, end));  // not recorded
    ASSERT_CUDA(cuEventRecord(start, nullptr));
    ASSERT_CUDA(cuEventRecord(end, nullptr));
    ASSERT_CUDA(cuEventElapsedTime(&milliseconds, start, end));
    EXPECT_EQ(milliseconds, 0.0f);
    ASSERT_EQ(ears.reads.size(), 1u);
    EXPECT_EQ(ears.reads[0].cause, "event_time");
    cuEventDestroy(start);
    cuEventDestroy(end);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(start, nullptr));
}

TEST_F(Stream, SynchronisationsAreTold) {
    Ears ears;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuEventCreate(&event, 0));
    ASSERT_CUDA(cuEventRecord(event, stream));
    ASSERT_CUDA(cuStreamWaitEvent(nullptr, event, 0));
    ASSERT_CUDA(cuStreamSynchronize(stream));
    ASSERT_CUDA(cuCtxSynchronize());
    ASSERT_CUDA(cuEventSynchronize(event));
    std::vector<uint32_t> types;
    for (const auto& s : ears.synchronisations) types.push_back(s.type);
    EXPECT_EQ(types, (std::vector<uint32_t>{2, 3, 4, 1}));  // CUpti_ActivitySynchronizationType
    cuEventDestroy(event);
    cuStreamDestroy(stream);
}

TEST_F(Stream, PerThreadDefaultStreams) {
    unsigned long long legacy = 0, own = 0, another = 0;
    ASSERT_CUDA(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    ASSERT_CUDA(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
    std::thread([&] {
        cuCtxSetCurrent(context_);
        cuStreamGetId(CU_STREAM_PER_THREAD, &another);
    }).join();
    EXPECT_NE(legacy, own);
    EXPECT_NE(own, another);
    int priority = 1;
    CUstream stream = nullptr;
    ASSERT_CUDA(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -3));
    ASSERT_CUDA(cuStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, -3);
    ASSERT_CUDA(cuStreamDestroy(stream));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
}

TEST_F(Stream, ContextsStackAndDie) {
    CUcontext made = nullptr, current = nullptr;
    ASSERT_CUDA(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_AUTO, device_));
    ASSERT_CUDA(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, made);
    CUdeviceptr memory = 0;
    ASSERT_CUDA(cuMemAlloc(&memory, 1 << 20));
    CUstream stream = nullptr;
    ASSERT_CUDA(cuStreamCreate(&stream, 0));
    ASSERT_CUDA(cuCtxDestroy(made));
    ASSERT_CUDA(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, context_);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(made));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
    size_t free = 0, total = 0;
    ASSERT_CUDA(cuMemGetInfo(&free, &total));
    EXPECT_EQ(free, total) << "a context takes its memory with it";
    unsigned flags = 0;
    int active = 0;
    ASSERT_CUDA(cuDevicePrimaryCtxGetState(device_, &flags, &active));
    EXPECT_EQ(active, 1);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(context_));
}

TEST_F(Stream, WithoutAContext) {
    ASSERT_CUDA(cuCtxSetCurrent(nullptr));
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 16));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    ASSERT_CUDA(cuCtxSetCurrent(context_));
}

TEST_F(Stream, TwoDevicesAndPeers) {
    int count = 0, can = 0;
    ASSERT_CUDA(cuDeviceGetCount(&count));
    ASSERT_EQ(count, 2);
    ASSERT_CUDA(cuDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_EQ(can, 1);
    CUcontext second = nullptr;
    ASSERT_CUDA(cuDevicePrimaryCtxRetain(&second, 1));
    CUdeviceptr here = 0, there = 0;
    ASSERT_CUDA(cuMemAlloc(&here, 64));
    ASSERT_CUDA(cuCtxPushCurrent(second));
    ASSERT_CUDA(cuMemAlloc(&there, 64));
    ASSERT_CUDA(cuCtxPopCurrent(nullptr));
    Ears ears;
    ASSERT_CUDA(cuMemsetD8(here, 8, 64));
    ASSERT_CUDA(cuMemcpyPeer(there, second, here, context_, 64));
    unsigned char byte = 0;
    ASSERT_CUDA(cuMemcpyDtoH(&byte, there, 1));
    EXPECT_EQ(byte, 8);
    ASSERT_EQ(ears.copies.size(), 2u);
    EXPECT_EQ(ears.copies[0].copy_kind, 10);  // CUPTI_ACTIVITY_MEMCPY_KIND_PTOP
    EXPECT_EQ(ears.copies[0].destination_device, 1);
    EXPECT_CUDA(cuCtxEnablePeerAccess(second, 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(second, 0));
    cuMemFree(here);
    cuMemFree(there);
    EXPECT_CUDA(cuDevicePrimaryCtxRelease(1));
}

}  // namespace
