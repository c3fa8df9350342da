// A program under a counters collection, through the driver API alone. Arguments: what to do, in order; the
// exit code is 21, or 90 where a call failed that should not.
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

alignas(8) const uint32_t kFatbin[] = {
#include "counted_kernels.fatbin.inc"
};

void check(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "%s: %d\n", call, static_cast<int>(result));
    std::fflush(nullptr);
    _exit(90);
}
#define CHECK(call) check(call, #call)

/// The kernels in one context.
struct Kernels {
    CUmodule module = nullptr;
    CUfunction first = nullptr, second = nullptr, third = nullptr, collective = nullptr;
    CUdeviceptr memory = 0;

    Kernels() {
        CHECK(cuModuleLoadData(&module, kFatbin));
        CHECK(cuModuleGetFunction(&first, module, "first_kernel"));
        CHECK(cuModuleGetFunction(&second, module, "second_kernel"));
        CHECK(cuModuleGetFunction(&third, module, "third_kernel"));
        CHECK(cuModuleGetFunction(&collective, module, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
        CHECK(cuMemAlloc(&memory, 1 << 20));
    }
};

CUresult try_launch(const Kernels& k, CUfunction f, unsigned grid, unsigned block, CUstream stream,
                    unsigned shared = 0) {
    CUdeviceptr out = k.memory;
    int n = 3;
    void* arguments[] = {&out, &n};
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, stream, arguments, nullptr);
}
void launch(const Kernels& k, CUfunction f, unsigned grid, CUstream stream = nullptr, unsigned shared = 0) {
    check(try_launch(k, f, grid, 128, stream, shared), "cuLaunchKernel");
}

/// One of each kind of launch, and two that fail.
void kinds(const Kernels& k) {
    launch(k, k.first, 1);
    if (try_launch(k, k.first, 1, 4096, nullptr) == CUDA_SUCCESS) _exit(91);
    launch(k, k.third, 2, nullptr, 4096);
    CUdeviceptr out = k.memory;
    int n = 3;
    void* arguments[] = {&out, &n};
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {2, 1, 1};
    CUlaunchConfig config{};
    config.gridDimX = 8, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 64, config.blockDimY = 2, config.blockDimZ = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
    CHECK(cuLaunchKernelEx(&config, k.second, arguments, nullptr));
    CHECK(cuLaunchCooperativeKernel(k.first, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments));
    // The old way, deprecated and still there.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CHECK(cuFuncSetBlockShape(k.first, 96, 1, 1));
    CHECK(cuParamSetSize(k.first, 12));
    CHECK(cuLaunchGrid(k.first, 3, 2));
#pragma GCC diagnostic pop
}

void copies(const Kernels& k) {
    std::vector<char> host(4096);
    CUstream stream = nullptr;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemcpyHtoD(k.memory, host.data(), 4096));
    CHECK(cuMemcpyDtoHAsync(host.data(), k.memory, 100, stream));
    CHECK(cuMemcpyDtoD(k.memory, k.memory + 8192, 200));
    CHECK(cuMemcpyAsync(k.memory, k.memory + 8192, 300, stream));
    CUDA_MEMCPY2D pitched{};
    pitched.srcMemoryType = CU_MEMORYTYPE_HOST, pitched.srcHost = host.data(), pitched.srcPitch = 64;
    pitched.dstMemoryType = CU_MEMORYTYPE_DEVICE, pitched.dstDevice = k.memory, pitched.dstPitch = 128;
    pitched.WidthInBytes = 64, pitched.Height = 5;
    CHECK(cuMemcpy2D(&pitched));
    if (cuMemcpyHtoD(k.memory, nullptr, 4096) == CUDA_SUCCESS) _exit(92);
    CHECK(cuMemsetD8(k.memory, 7, 1000));
    CHECK(cuMemsetD32Async(k.memory, 0x01020304, 10, stream));
    CHECK(cuMemsetD2D16(k.memory, 64, 9, 4, 3));
}

void threads(const Kernels& k, CUcontext context, int count, int launches) {
    std::vector<std::thread> all;
    for (int t = 0; t < count; ++t)
        all.emplace_back([&k, context, t, launches] {
            CHECK(cuCtxSetCurrent(context));
            CUstream stream = nullptr;
            CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
            for (int i = 0; i < launches; ++i)
                launch(k, t % 2 == 0 ? k.first : k.second, static_cast<unsigned>(t + 1), stream);
        });
    for (std::thread& t : all) t.join();
}

/// A context of its own; launches in turn with the first one's.
void other_context(const Kernels& k, CUcontext first, int device) {
    CUcontext second = nullptr;
    CHECK(cuCtxCreate(&second, nullptr, 0, device));
    const Kernels there;
    for (int i = 0; i < 3; ++i) {
        CHECK(cuCtxSetCurrent(first));
        launch(k, k.first, 5);
        CHECK(cuCtxSetCurrent(second));
        launch(there, there.second, 6);
        launch(there, there.collective, 7);
    }
    CHECK(cuCtxSetCurrent(first));
    CHECK(cuCtxDestroy(second));
    launch(k, k.third, 8, nullptr, 1024);
}

CUgraphExec capture(const Kernels& k, bool parallel) {
    CUstream stream = nullptr, branch = nullptr;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&branch, CU_STREAM_NON_BLOCKING));
    CUevent fork = nullptr, join = nullptr;
    CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(k, k.first, 1, stream);
    if (parallel) {
        CHECK(cuEventRecord(fork, stream));
        CHECK(cuStreamWaitEvent(branch, fork, 0));
        launch(k, k.third, 3, branch, 1024);
    }
    launch(k, k.second, 2, stream);
    if (parallel) {
        CHECK(cuEventRecord(join, branch));
        CHECK(cuStreamWaitEvent(stream, join, 0));
    } else {
        launch(k, k.third, 3, stream, 1024);
    }
    launch(k, k.second, 9);  // not on the captured stream: this one runs
    CUgraph graph = nullptr;
    CHECK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = nullptr;
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

void graphs(const Kernels& k) {
    CUgraphExec chain = capture(k, false), diamond = capture(k, true);
    CHECK(cuGraphLaunch(chain, nullptr));
    launch(k, k.first, 4);
    CHECK(cuGraphLaunch(diamond, nullptr));
    CHECK(cuGraphLaunch(chain, nullptr));
    CHECK(cuGraphExecDestroy(chain));
    CHECK(cuGraphExecDestroy(diamond));
    launch(k, k.first, 4);
}

void ranges(const Kernels& k) {
    const nvtxRangeId_t implementation = nvtxRangeStartA("attnscope.implementation/naive");
    launch(k, k.first, 1);
    for (int i = 0; i < 2; ++i) {
        const nvtxRangeId_t iteration = nvtxRangeStartA("attnscope.iteration");
        nvtxRangePushA("inner");
        launch(k, k.second, 2);
        nvtxRangePop();
        launch(k, k.third, 3, nullptr, 512);
        nvtxRangeEnd(iteration);
    }
    nvtxRangeEnd(implementation);
    nvtxRangePushA("outer");
    nvtxRangePushA("attnscope.iteration");
    launch(k, k.first, 4);
    nvtxRangePop();
    nvtxRangePop();
}

/// Ranges that cannot be counted.
void bad_ranges(const Kernels& k, CUcontext context) {
    nvtxRangeId_t range = nvtxRangeStartA("attnscope.iteration");
    launch(k, k.first, 1);
    std::thread([&] { nvtxRangeEnd(range); }).join();                                  // on another thread
    std::thread([] { nvtxRangeEnd(nvtxRangeStartA("attnscope.iteration")); }).join();  // without a context
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    range = nvtxRangeStartA("attnscope.iteration");
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    nvtxRangeEnd(range);  // in a capture
    nvtxRangeEnd(nvtxRangeStartA("attnscope.iteration"));
    CHECK(cuStreamEndCapture(stream, &graph));
    CUcontext second = nullptr;
    CHECK(cuCtxCreate(&second, nullptr, 0, 0));
    const Kernels there;
    CHECK(cuCtxSetCurrent(context));
    range = nvtxRangeStartA("attnscope.iteration");
    launch(k, k.first, 1);
    CHECK(cuCtxSetCurrent(second));
    launch(there, there.first, 2);  // elsewhere
    CHECK(cuCtxSetCurrent(context));
    nvtxRangeEnd(range);
    range = nvtxRangeStartA("attnscope.iteration");
    launch(k, k.third, 3, nullptr, 512);
    nvtxRangeEnd(range);  // this one can
}

void nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

/// A profiler of its own, as torch.profiler begins.
void subscribe() {
    void* cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
    if (cupti == nullptr) _exit(93);
    auto* begin = reinterpret_cast<decltype(&cuptiSubscribe)>(dlsym(cupti, "cuptiSubscribe"));
    CUpti_SubscriberHandle subscriber = nullptr;
    if (begin == nullptr || begin(&subscriber, nothing, nullptr) != CUPTI_SUCCESS) _exit(94);
}

void fork_child(const Kernels& k) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    launch(k, k.first, 7);
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(cuInit(0));
    CUcontext context = nullptr;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    const Kernels k;
    for (int i = 1; i < argc; ++i) {
        const std::string what = argv[i];
        const auto number = [&] { return std::atoi(what.c_str() + what.find('=') + 1); };
        if (what == "kinds") kinds(k);
        if (what == "copies") copies(k);
        if (what.rfind("launch=", 0) == 0)
            for (int n = number(); n > 0; --n)
                launch(k, n % 2 == 0 ? k.first : k.second, static_cast<unsigned>(n));
        if (what.rfind("threads=", 0) == 0) threads(k, context, number(), 20);
        if (what.rfind("subscribe-while-threads=", 0) == 0) {
            std::thread busy([&] { threads(k, context, number(), 2000); });
            usleep(20'000);
            subscribe();
            busy.join();
        }
        if (what == "context") other_context(k, context, 0);
        if (what == "device") other_context(k, context, 1);
        if (what == "graphs") graphs(k);
        if (what == "collective") launch(k, k.collective, 7);
        if (what == "ranges") ranges(k);
        if (what == "bad-ranges") bad_ranges(k, context);
        if (what == "subscribe") subscribe();
        if (what == "fork") fork_child(k);
        if (what.rfind("sleep=", 0) == 0) usleep(static_cast<useconds_t>(number()) * 1000);
        if (what == "kill") raise(SIGKILL);
    }
    std::printf("done\n");
    return 21;
}
