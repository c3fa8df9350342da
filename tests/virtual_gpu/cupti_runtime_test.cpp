// What a client's callbacks see of a launch through the runtime: the runtime's call, in it the driver's, one
// correlation id; and which of the two handles the driver is given. Callback ids: cupti_runtime_cbid.h and
// cupti_driver_cbid.h of CUPTI 13.0. cuda.h at cuLaunchKernel: `f` can be a CUkernel, which
// cuFuncGetAttribute refuses.
#include <cuda_runtime_api.h>

#include "core_support.h"
#include "cupti_range_client.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const void* host, char* device_function, const char* name, int,
                            void*, void*, void*, void*, int*);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream);
}

namespace {

using namespace range_client;

struct Heard {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId cbid;
    uint32_t correlation;
    std::string symbol;
    bool attribute_refused;  ///< driver launches: INVALID_HANDLE of cuFuncGetAttribute
};
std::vector<Heard> heard;

CUfunction launched(const CUpti_CallbackData& call, CUpti_CallbackId cbid) {
    switch (cbid) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
            return static_cast<const cuLaunchKernel_params*>(call.functionParams)->f;
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
            return static_cast<const cuLaunchKernelEx_params*>(call.functionParams)->f;
        default:
            return static_cast<const cuLaunchCooperativeKernel_params*>(call.functionParams)->f;
    }
}

void hear(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (call.callbackSite != CUPTI_API_ENTER || !call.symbolName) return;
    bool refused = false;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        int registers = 0;
        const CUfunction f = launched(call, cbid);
        refused = cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f) == CUDA_ERROR_INVALID_HANDLE;
        if (refused) {
            EXPECT_EQ(CUDA_SUCCESS, cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS,
                                                         reinterpret_cast<CUkernel>(f), 0));
        }
        EXPECT_EQ(255, registers) << "of the flash kernel";
    }
    heard.push_back({domain, cbid, call.correlationId, call.symbolName, refused});
}

/// The flash kernel registered as a program's, launched in the runtime's three ways.
void launch_all() {
    static struct {
        int magic = 0x466243b1, version = 1;
        const void* data = nullptr;
        void* file = nullptr;
    } wrapper;
    static const char host = 0;
    if (core_test::flash_fatbin() == nullptr) GTEST_SKIP() << "no LibTorch: no kernels to launch";
    wrapper.data = core_test::flash_fatbin();
    void** handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &host, const_cast<char*>(core_test::flash_kernel), core_test::flash_kernel,
                           -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle);
    CUpti_SubscriberHandle subscriber = nullptr;
    ASSERT_EQ(CUPTI_SUCCESS, cuptiSubscribe(&subscriber, hear, nullptr));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
    ASSERT_EQ(CUPTI_SUCCESS, cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));

    static char parameters[4096];
    void* arguments[] = {parameters};
    const dim3 grid(2, 1, 8), block(128, 1, 1);
    ASSERT_EQ(cudaSuccess, cudaLaunchKernel(&host, grid, block, arguments, 49152, nullptr));
    cudaLaunchConfig_t config{grid, block, 49152, nullptr, nullptr, 0};
    ASSERT_EQ(cudaSuccess, cudaLaunchKernelExC(&config, &host, arguments));
    cudaKernel_t kernel = nullptr;
    ASSERT_EQ(cudaSuccess, __cudaGetKernel(&kernel, &host));
    ASSERT_EQ(cudaSuccess, __cudaLaunchKernel(kernel, grid, block, arguments, 49152, nullptr));
    ASSERT_EQ(cudaSuccess, cudaLaunchCooperativeKernel(&host, grid, block, arguments, 49152, nullptr));
}

std::vector<bool> refusals() {
    std::vector<bool> all;
    for (const Heard& entry : heard)
        if (entry.domain == CUPTI_CB_DOMAIN_DRIVER_API) all.push_back(entry.attribute_refused);
    return all;
}

TEST(CuptiRuntime, TheRuntimesCallThenTheDrivers) {
    in_child({}, [] {
        launch_all();
        if (testing::Test::IsSkipped()) return;
        const std::vector<std::pair<CUpti_CallbackId, CUpti_CallbackId>> expected = {
            {211, 307}, {430, 652}, {505, 307}, {269, 477}};
        ASSERT_EQ(2 * expected.size(), heard.size());
        for (size_t i = 0; i < expected.size(); ++i) {
            const Heard &runtime = heard[2 * i], &driver = heard[2 * i + 1];
            EXPECT_EQ(CUPTI_CB_DOMAIN_RUNTIME_API, runtime.domain);
            EXPECT_EQ(CUPTI_CB_DOMAIN_DRIVER_API, driver.domain);
            EXPECT_EQ(expected[i].first, runtime.cbid);
            EXPECT_EQ(expected[i].second, driver.cbid);
            EXPECT_EQ(runtime.correlation, driver.correlation);
            EXPECT_EQ(core_test::flash_kernel, driver.symbol);
        }
        EXPECT_EQ((std::vector<bool>{true, true, true, true}), refusals()) << "each is a CUkernel";
    });
}

TEST(CuptiRuntime, HalfOfTheLaunchesOnDemand) {
    in_child({{"ATTNSCOPE_VGPU_CUKERNEL", "1"}}, [] {
        launch_all();
        if (testing::Test::IsSkipped()) return;
        EXPECT_EQ((std::vector<bool>{true, false, true, false}), refusals());
    });
}

}  // namespace
