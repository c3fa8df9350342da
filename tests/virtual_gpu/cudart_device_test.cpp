// Devices as the runtime tells of them, on H100-SXM5 twice.
// Source of the right values: deviceProperties of the public trace kineto/h100-bert-small.json.gz, a real
// H100; what it does not hold, the CUDA C++ Programming Guide's table of technical specifications for compute
// capability 9.0.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace {

TEST(CudartDevice, Versions) {
    int runtime = 0;
    int driver = 0;
    EXPECT_EQ(cudaRuntimeGetVersion(&runtime), cudaSuccess);
    EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
    EXPECT_EQ(runtime, 13000);
    EXPECT_EQ(driver, 13000);
}

TEST(CudartDevice, CountAndChoice) {
    int count = 0;
    ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
    ASSERT_EQ(count, 2);
    int current = -1;
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 1);
    // A thread starts with device 0, whatever the others chose.
    std::thread([] {
        int own = -1;
        EXPECT_EQ(cudaGetDevice(&own), cudaSuccess);
        EXPECT_EQ(own, 0);
    }).join();
    EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 1);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
}

TEST(CudartDevice, Properties) {
    cudaDeviceProp p;
    ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
    EXPECT_STREQ(p.name, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(p.totalGlobalMem, 85018279936u);
    EXPECT_EQ(p.major, 9);
    EXPECT_EQ(p.minor, 0);
    EXPECT_EQ(p.multiProcessorCount, 132);
    EXPECT_EQ(p.maxThreadsPerBlock, 1024);
    EXPECT_EQ(p.maxThreadsPerMultiProcessor, 2048);
    EXPECT_EQ(p.regsPerBlock, 65536);
    EXPECT_EQ(p.regsPerMultiprocessor, 65536);
    EXPECT_EQ(p.warpSize, 32);
    EXPECT_EQ(p.sharedMemPerBlock, 49152u);
    EXPECT_EQ(p.sharedMemPerBlockOptin, 232448u);
    EXPECT_EQ(p.sharedMemPerMultiprocessor, 233472u);
    EXPECT_EQ(p.reservedSharedMemPerBlock, 1024u);
    EXPECT_EQ(p.maxBlocksPerMultiProcessor, 32);
    EXPECT_EQ(p.maxThreadsDim[0], 1024);
    EXPECT_EQ(p.maxThreadsDim[1], 1024);
    EXPECT_EQ(p.maxThreadsDim[2], 64);
    EXPECT_EQ(p.maxGridSize[0], 2147483647);
    EXPECT_EQ(p.maxGridSize[1], 65535);
    EXPECT_EQ(p.maxGridSize[2], 65535);
    EXPECT_EQ(p.clusterLaunch, 1);
    EXPECT_EQ(p.unifiedAddressing, 1);
    EXPECT_EQ(cudaGetDeviceProperties(&p, 2), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST(CudartDevice, AttributesAgreeWithProperties) {
    cudaDeviceProp p;
    ASSERT_EQ(cudaGetDeviceProperties(&p, 1), cudaSuccess);
    const auto attribute = [](cudaDeviceAttr which) {
        int value = -1;
        EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 1), cudaSuccess) << which;
        return value;
    };
    EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), p.multiProcessorCount);
    EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), static_cast<int>(p.sharedMemPerBlockOptin));
    EXPECT_EQ(attribute(cudaDevAttrL2CacheSize), p.l2CacheSize);
    EXPECT_EQ(attribute(cudaDevAttrMaxBlocksPerMultiprocessor), p.maxBlocksPerMultiProcessor);
    EXPECT_GT(attribute(cudaDevAttrMemoryClockRate), 0);
    int value = 0;
    volatile int no_attribute = 100000;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(no_attribute), 0),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7), cudaErrorInvalidDevice);
    cudaGetLastError();
}

TEST(CudartDevice, TwoDevicesDifferInBusIdAndUuid) {
    char first[32];
    char second[32];
    ASSERT_EQ(cudaDeviceGetPCIBusId(first, sizeof first, 0), cudaSuccess);
    ASSERT_EQ(cudaDeviceGetPCIBusId(second, sizeof second, 1), cudaSuccess);
    EXPECT_STRNE(first, second);
    int device = -1;
    EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, second), cudaSuccess);
    EXPECT_EQ(device, 1);
    cudaDeviceProp p[2];
    ASSERT_EQ(cudaGetDeviceProperties(&p[0], 0), cudaSuccess);
    ASSERT_EQ(cudaGetDeviceProperties(&p[1], 1), cudaSuccess);
    EXPECT_NE(std::memcmp(&p[0].uuid, &p[1].uuid, sizeof p[0].uuid), 0);
}

TEST(CudartDevice, PeersReachOneAnother) {
    int access = 0;
    EXPECT_EQ(cudaDeviceCanAccessPeer(&access, 0, 1), cudaSuccess);
    EXPECT_EQ(access, 1);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
    EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    cudaGetLastError();
}

TEST(CudartDevice, ResetFreesWhatWasAllocated) {
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    size_t before = 0;
    size_t during = 0;
    size_t after = 0;
    size_t total = 0;
    ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, 1 << 30), cudaSuccess);
    ASSERT_EQ(cudaMemGetInfo(&during, &total), cudaSuccess);
    EXPECT_EQ(before - during, size_t{1} << 30);
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
    EXPECT_EQ(after, before);
    ASSERT_EQ(cudaMalloc(&memory, 16), cudaSuccess) << "the device must work after a reset";
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(CudartDevice, LimitsAndPriorities) {
    size_t stack = 0;
    EXPECT_EQ(cudaDeviceGetLimit(&stack, cudaLimitStackSize), cudaSuccess);
    EXPECT_EQ(stack, 1024u);  // CUDA Runtime API: the default of cudaLimitStackSize
    EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
    EXPECT_EQ(cudaDeviceGetLimit(&stack, cudaLimitStackSize), cudaSuccess);
    EXPECT_EQ(stack, 4096u);
    int least = 1;
    int greatest = 1;
    EXPECT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
    EXPECT_EQ(least, 0);
    EXPECT_LT(greatest, 0);
}

}  // namespace
