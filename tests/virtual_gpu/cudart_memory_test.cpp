// Memory, copies, streams and events through the runtime. Right values: the CUDA Runtime API documentation.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

TEST(CudartMemory, NothingIsASuccess) {
    void* memory = &memory;
    EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(cudaMalloc(nullptr, 16), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(reinterpret_cast<void*>(0x1234)), cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST(CudartMemory, WhatTheHostWroteComesBack) {
    const std::string text = "written by the host";
    for (const cudaMemcpyKind up : {cudaMemcpyHostToDevice, cudaMemcpyDefault}) {
        char* memory = nullptr;
        ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 64), cudaSuccess);
        ASSERT_EQ(cudaMemcpy(memory, text.data(), text.size(), up), cudaSuccess);
        ASSERT_EQ(cudaMemcpy(memory + 32, memory, text.size(), cudaMemcpyDeviceToDevice), cudaSuccess);
        std::string back(text.size(), '?');
        ASSERT_EQ(cudaMemcpy(back.data(), memory + 32, back.size(), cudaMemcpyDeviceToHost), cudaSuccess);
        EXPECT_EQ(back, text);
        EXPECT_EQ(cudaFree(memory), cudaSuccess);
    }
    char byte = 0;
    volatile int no_kind = 9;
    EXPECT_EQ(cudaMemcpy(&byte, &byte, 1, static_cast<cudaMemcpyKind>(no_kind)),
              cudaErrorInvalidMemcpyDirection);
    cudaGetLastError();
}

TEST(CudartMemory, PitchedCopiesKeepTheirRows) {
    void* memory = nullptr;
    size_t pitch = 0;
    ASSERT_EQ(cudaMallocPitch(&memory, &pitch, 6, 3), cudaSuccess);
    EXPECT_GE(pitch, 6u);
    const std::string rows = "row 0 row 1 row 2 ";
    std::string back(rows.size(), '?');
    ASSERT_EQ(cudaMemcpy2D(memory, pitch, rows.data(), 6, 6, 3, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(cudaMemcpy2D(back.data(), 6, memory, pitch, 6, 3, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(back, rows);
    cudaMemcpy3DParms p{};
    p.srcPtr = {memory, pitch, 6, 3};
    p.dstPtr = {back.data(), 6, 6, 3};
    p.extent = {6, 2, 1};
    p.srcPos = {0, 1, 0};
    p.kind = cudaMemcpyDeviceToHost;
    ASSERT_EQ(cudaMemcpy3D(&p), cudaSuccess);
    EXPECT_EQ(back.substr(0, 12), "row 1 row 2 ");
    EXPECT_EQ(cudaMemcpy2D(memory, 4, rows.data(), 6, 6, 3, cudaMemcpyHostToDevice),
              cudaErrorInvalidPitchValue);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    cudaGetLastError();
}

TEST(CudartMemory, MemsetIsKnownContent) {
    unsigned char* memory = nullptr;
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&memory), 256), cudaSuccess);
    ASSERT_EQ(cudaMemset(memory, 0x5a, 256), cudaSuccess);
    ASSERT_EQ(cudaMemset2D(memory, 64, 0x11, 16, 2), cudaSuccess);
    unsigned char back[256];
    ASSERT_EQ(cudaMemcpy(back, memory, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(back[0], 0x11);
    EXPECT_EQ(back[16], 0x5a);
    EXPECT_EQ(back[64 + 15], 0x11);
    EXPECT_EQ(back[255], 0x5a);
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(CudartMemory, PointersAreKnownForWhatTheyAre) {
    void* on_device = nullptr;
    void* pinned = nullptr;
    void* managed = nullptr;
    int local = 0;
    ASSERT_EQ(cudaMalloc(&on_device, 64), cudaSuccess);
    ASSERT_EQ(cudaHostAlloc(&pinned, 64, cudaHostAllocDefault), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal), cudaSuccess);
    cudaPointerAttributes a;
    ASSERT_EQ(cudaPointerGetAttributes(&a, static_cast<char*>(on_device) + 8), cudaSuccess);
    EXPECT_EQ(a.type, cudaMemoryTypeDevice);
    EXPECT_EQ(a.device, 0);
    ASSERT_EQ(cudaPointerGetAttributes(&a, pinned), cudaSuccess);
    EXPECT_EQ(a.type, cudaMemoryTypeHost);
    EXPECT_EQ(a.hostPointer, pinned);
    ASSERT_EQ(cudaPointerGetAttributes(&a, managed), cudaSuccess);
    EXPECT_EQ(a.type, cudaMemoryTypeManaged);
    ASSERT_EQ(cudaPointerGetAttributes(&a, &local), cudaSuccess);
    EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    ASSERT_EQ(cudaHostRegister(&local, sizeof local, cudaHostRegisterDefault), cudaSuccess);
    ASSERT_EQ(cudaPointerGetAttributes(&a, &local), cudaSuccess);
    EXPECT_EQ(a.type, cudaMemoryTypeHost);
    EXPECT_EQ(cudaHostRegister(&local, sizeof local, cudaHostRegisterDefault),
              cudaErrorHostMemoryAlreadyRegistered);
    EXPECT_EQ(cudaHostUnregister(&local), cudaSuccess);
    EXPECT_EQ(cudaHostUnregister(&local), cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    EXPECT_EQ(cudaFree(on_device), cudaSuccess);
    EXPECT_EQ(cudaFree(managed), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(CudartMemory, PeerCopies) {
    const std::string text = "from one device to the other";
    void* first = nullptr;
    void* second = nullptr;
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&second, 64), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&first, 64), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(first, text.data(), text.size(), cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(cudaMemcpyPeerAsync(second, 1, first, 0, text.size(), nullptr), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::string back(text.size(), '?');
    ASSERT_EQ(cudaMemcpy(back.data(), second, back.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(back, text);
    cudaPointerAttributes a;
    ASSERT_EQ(cudaPointerGetAttributes(&a, second), cudaSuccess);
    EXPECT_EQ(a.device, 1);
    EXPECT_EQ(cudaMemcpyPeer(second, 5, first, 0, 1), cudaErrorInvalidDevice);
    cudaGetLastError();
    EXPECT_EQ(cudaFree(first), cudaSuccess);
    EXPECT_EQ(cudaFree(second), cudaSuccess);
}

TEST(CudartMemory, PoolsOfTheDevice) {
    cudaMemPool_t pool = nullptr;
    ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    uint64_t threshold = 1 << 20;
    EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
    threshold = 0;
    EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
    EXPECT_EQ(threshold, 1u << 20);
    void* memory = nullptr;
    ASSERT_EQ(cudaMallocAsync(&memory, 1 << 20, nullptr), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
    EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
}

TEST(CudartStreams, EventsAndOrder) {
    cudaStream_t stream = nullptr;
    cudaEvent_t start = nullptr;
    cudaEvent_t end = nullptr;
    ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1), cudaSuccess);
    int priority = 0;
    EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
    EXPECT_EQ(priority, -1);
    ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
    float milliseconds = -1;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle)
        << "not yet recorded";
    EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(end, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(nullptr, end, 0), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
    EXPECT_EQ(cudaEventQuery(end), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
    int calls = 0;
    EXPECT_EQ(cudaLaunchHostFunc(
                  stream, [](void* counter) { ++*static_cast<int*>(counter); }, &calls),
              cudaSuccess);
    EXPECT_EQ(cudaStreamAddCallback(
                  stream,
                  [](cudaStream_t, cudaError_t status, void* counter) {
                      *static_cast<int*>(counter) += status == cudaSuccess;
                  },
                  &calls, 0),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

TEST(CudartEntryPoints, DriverFunctionsByName) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult status{};
    EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 13000, cudaEnableDefault, &status),
              cudaSuccess);
    EXPECT_EQ(status, cudaDriverEntryPointSuccess);
    EXPECT_NE(function, nullptr);
    EXPECT_EQ(
        cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 13000, cudaEnableDefault, &status),
        cudaSuccess);
    EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
    EXPECT_EQ(function, nullptr);
}

}  // namespace
