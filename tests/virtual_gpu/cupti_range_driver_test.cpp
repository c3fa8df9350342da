// The Range Profiler under programs of the driver and runtime API, with a real kernel: which launches are
// ranges, and what the callbacks hand to a client that measures launch by launch. Right values: the launches
// made here; callback ids: cupti_driver_cbid.h and cupti_runtime_cbid.h of CUPTI 13.0.
#include <cupti.h>

#include <optional>

#include "core_support.h"
#include "cupti_range_client.h"

namespace {

using namespace range_client;

constexpr auto success = CUPTI_SUCCESS;

/// The flash kernel, in the primary context of device 0.
struct Kernel {
    CUcontext context = nullptr;
    CUfunction function = nullptr;
    std::vector<char> parameters;
    void* values[1] = {};
    bool loaded = false;

    Kernel() {
        context = primary_context(0);
        CUmodule module = nullptr;
        size_t offset = 0, bytes = 0;
        loaded = core_test::flash_fatbin() != nullptr &&
                 cuModuleLoadData(&module, core_test::flash_fatbin()) == CUDA_SUCCESS &&
                 cuModuleGetFunction(&function, module, core_test::flash_kernel) == CUDA_SUCCESS &&
                 cuFuncGetParamInfo(function, 0, &offset, &bytes) == CUDA_SUCCESS;
        parameters.assign(bytes + 1, 0);
        values[0] = parameters.data();
    }
    CUresult launch(CUstream stream, unsigned grid = 2) {
        return cuLaunchKernel(function, grid, 1, 8, 128, 1, 1, 49152, stream, values, nullptr);
    }
    CUresult cooperative() {
        return cuLaunchCooperativeKernel(function, 2, 1, 8, 128, 1, 1, 49152, nullptr, values);
    }
    CUresult extended() {
        CUlaunchConfig config{};
        config.gridDimX = 2;
        config.gridDimY = 1;
        config.gridDimZ = 8;
        config.blockDimX = 128;
        config.blockDimY = config.blockDimZ = 1;
        config.sharedMemBytes = 49152;
        return cuLaunchKernelEx(&config, function, values, nullptr);
    }
    /// Kernels one after the other.
    CUgraph graph(size_t nodes) {
        CUgraph made = nullptr;
        CUgraphNode last = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuGraphCreate(&made, 0));
        for (size_t i = 0; i < nodes; ++i) {
            CUDA_KERNEL_NODE_PARAMS node{};
            node.func = function;
            node.gridDimX = 2;
            node.gridDimY = 1;
            node.gridDimZ = 8;
            node.blockDimX = 128;
            node.blockDimY = node.blockDimZ = 1;
            node.sharedMemBytes = 49152;
            node.kernelParams = values;
            CUgraphNode next = nullptr;
            EXPECT_EQ(CUDA_SUCCESS,
                      cuGraphAddKernelNode(&next, made, last ? &last : nullptr, last ? 1 : 0, &node));
            last = next;
        }
        return made;
    }
};

#define KERNEL_OR_SKIP(kernel) \
    Kernel kernel;             \
    if (!kernel.loaded) GTEST_SKIP() << "no LibTorch: no kernels to launch"

TEST(CuptiRangeDriver, EveryKernelIsARange) {
    in_child(with_fixture(), [] {
        KERNEL_OR_SKIP(kernel);
        Profiler profiler;
        profiler.ready(kernel.context);
        const auto ranges = [&](auto work) {
            EXPECT_EQ(success, profiler.initialise());
            EXPECT_EQ(success, profiler.start());
            work();
            EXPECT_EQ(success, profiler.stop());
            EXPECT_EQ(success, profiler.decode());
            return profiler.total();
        };
        EXPECT_EQ(1, ranges([&] { ASSERT_EQ(CUDA_SUCCESS, kernel.launch(nullptr)); }));
        EXPECT_EQ(1, ranges([&] { ASSERT_EQ(CUDA_SUCCESS, kernel.cooperative()); }));
        EXPECT_EQ(1, ranges([&] { ASSERT_EQ(CUDA_SUCCESS, kernel.extended()); }));
        EXPECT_EQ(0, ranges([&] { ASSERT_NE(CUDA_SUCCESS, kernel.launch(nullptr, 0)); })) << "refused";
        CUgraphExec exec = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuGraphInstantiate(&exec, kernel.graph(3), 0));
        EXPECT_EQ(3, ranges([&] { ASSERT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr)); }));
        CUdeviceptr memory = 0;
        ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc(&memory, 4096));
        EXPECT_EQ(0, ranges([&] { ASSERT_EQ(CUDA_SUCCESS, cuMemsetD8(memory, 0, 4096)); })) << "no kernel";
    });
}

TEST(CuptiRangeDriver, ACaptureIssuesNothing) {
    in_child(with_fixture(), [] {
        KERNEL_OR_SKIP(kernel);
        Profiler profiler;
        profiler.ready(kernel.context);
        CUstream stream = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        ASSERT_EQ(success, profiler.start());
        ASSERT_EQ(CUDA_SUCCESS, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        ASSERT_EQ(CUDA_SUCCESS, kernel.launch(stream));
        CUgraph graph = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuStreamEndCapture(stream, &graph));
        ASSERT_EQ(success, profiler.stop());
        ASSERT_EQ(success, profiler.decode());
        EXPECT_EQ(0, profiler.total());
    });
}

/// What a client keeps of its callbacks.
struct Heard {
    std::vector<CUpti_CallbackId> driver, runtime;
    std::vector<uint32_t> correlations;
    std::vector<std::string> symbols;
    std::vector<CUfunction> functions;  ///< of the driver's launches
    std::optional<size_t> nodes;        ///< of the graph that was instantiated
};

void hear(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
    auto& heard = *static_cast<Heard*>(user);
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (call->callbackSite == CUPTI_API_EXIT && domain == CUPTI_CB_DOMAIN_DRIVER_API &&
        cbid == CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags) {
        // What the runtime does not keep: the graph is asked in the callback.
        const auto* params = static_cast<const cuGraphInstantiateWithFlags_params*>(call->functionParams);
        size_t count = 0;
        if (params->phGraphExec && *params->phGraphExec &&
            cuGraphGetNodes(params->hGraph, nullptr, &count) == CUDA_SUCCESS)
            heard.nodes = count;
    }
    if (call->callbackSite != CUPTI_API_ENTER || !call->symbolName) return;
    (domain == CUPTI_CB_DOMAIN_DRIVER_API ? heard.driver : heard.runtime).push_back(cbid);
    heard.correlations.push_back(call->correlationId);
    heard.symbols.emplace_back(call->symbolName);
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
    if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
        heard.functions.push_back(static_cast<const cuLaunchKernel_params*>(call->functionParams)->f);
    if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx)
        heard.functions.push_back(static_cast<const cuLaunchKernelEx_params*>(call->functionParams)->f);
    if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel)
        heard.functions.push_back(
            static_cast<const cuLaunchCooperativeKernel_params*>(call->functionParams)->f);
}

void listen(Heard& heard, std::vector<CUpti_CallbackDomain> domains) {
    CUpti_SubscriberHandle subscriber = nullptr;
    ASSERT_EQ(success, cuptiSubscribe(&subscriber, hear, &heard));
    for (const CUpti_CallbackDomain domain : domains)
        ASSERT_EQ(success, cuptiEnableDomain(1, subscriber, domain));
}

TEST(CuptiRangeDriver, LaunchCallbacks) {
    in_child({}, [] {
        KERNEL_OR_SKIP(kernel);
        Heard heard;
        listen(heard, {CUPTI_CB_DOMAIN_DRIVER_API});
        ASSERT_EQ(CUDA_SUCCESS, kernel.launch(nullptr));
        ASSERT_EQ(CUDA_SUCCESS, kernel.extended());
        ASSERT_EQ(CUDA_SUCCESS, kernel.cooperative());
        EXPECT_EQ((std::vector<CUpti_CallbackId>{307, 652, 477}), heard.driver);
        EXPECT_EQ(std::vector<CUfunction>(3, kernel.function), heard.functions);
        EXPECT_EQ(std::vector<std::string>(3, core_test::flash_kernel), heard.symbols);
        CUgraphExec exec = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuGraphInstantiate(&exec, kernel.graph(4), 0));
        ASSERT_TRUE(heard.nodes.has_value()) << "the graph and its executable are there at EXIT";
        EXPECT_EQ(4u, *heard.nodes);
    });
}

// A client as the collector is one: Start at ENTER, Stop and Decode at EXIT.
TEST(CuptiRangeDriver, OneSessionALaunch) {
    in_child(with_fixture(), [] {
        KERNEL_OR_SKIP(kernel);
        static Profiler profiler;
        static std::vector<int> totals;
        profiler.ready(kernel.context);
        CUpti_SubscriberHandle subscriber = nullptr;
        const auto measure = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
            if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER) {
                EXPECT_EQ(success, profiler.initialise());
                EXPECT_EQ(success, profiler.start());
            } else {
                EXPECT_EQ(success, profiler.stop());
                EXPECT_EQ(success, profiler.decode());
                totals.push_back(profiler.total());
            }
        };
        ASSERT_EQ(success, cuptiSubscribe(&subscriber, measure, nullptr));
        for (const auto cbid :
             {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch})
            ASSERT_EQ(success, cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid));
        CUgraphExec exec = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuGraphInstantiate(&exec, kernel.graph(5), 0));
        ASSERT_EQ(CUDA_SUCCESS, kernel.launch(nullptr));
        ASSERT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
        ASSERT_EQ(CUDA_SUCCESS, kernel.launch(nullptr));
        EXPECT_EQ((std::vector<int>{1, 5, 1}), totals);
    });
}

}  // namespace
