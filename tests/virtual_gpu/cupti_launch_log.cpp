// An injected client of the Callback API, as CUPTI's own samples write one: every kernel launch of the
// process as one line in the file LAUNCH_LOG, from the launch's parameters and the function's attributes. It
// shares nothing with the activity records.
#include <cuda.h>
#include <cupti.h>
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace {

std::FILE* out = nullptr;

int attribute(CUfunction function, CUfunction_attribute which) {
    int value = 0;
    if (cuFuncGetAttribute(&value, which, function) == CUDA_SUCCESS) return value;
    // A CUkernel passed as CUfunction.
    CUdevice device = 0;
    cuCtxGetDevice(&device);
    cuKernelGetAttribute(&value, which, reinterpret_cast<CUkernel>(function), device);
    return value;
}

template <class Launch>
void write(const char* symbol, CUfunction function, const Launch& launch) {
    int status = 0;
    char* name = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::fprintf(
        out, "%u %u %u\t%u %u %u\t%d\t%d\t%s\n", launch.gridDimX, launch.gridDimY, launch.gridDimZ,
        launch.blockDimX, launch.blockDimY, launch.blockDimZ, attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS),
        attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) + static_cast<int>(launch.sharedMemBytes),
        name ? name : symbol);
    std::free(name);
}

void on_launch(void*, CUpti_CallbackDomain, CUpti_CallbackId cbid, const void* data) {
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (call->callbackSite != CUPTI_API_EXIT ||
        *static_cast<CUresult*>(call->functionReturnValue) != CUDA_SUCCESS)
        return;
    switch (cbid) {
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: {
            const auto* params = static_cast<const cuLaunchKernel_params*>(call->functionParams);
            return write(call->symbolName, params->f, *params);
        }
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
            const auto* params = static_cast<const cuLaunchKernelEx_params*>(call->functionParams);
            return write(call->symbolName, params->f, *params->config);
        }
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
        case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
            const auto* params = static_cast<const cuLaunchCooperativeKernel_params*>(call->functionParams);
            return write(call->symbolName, params->f, *params);
        }
        default:
            return;
    }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    out = std::fopen(std::getenv("LAUNCH_LOG"), "w");
    CUpti_SubscriberHandle subscriber = nullptr;
    if (!out || cuptiSubscribe(&subscriber, on_launch, nullptr) != CUPTI_SUCCESS) return 1;
    for (const CUpti_CallbackId launch :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz})
        cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch);
    return 1;
}

/// The program's set-up is over: what follows is compared.
extern "C" __attribute__((visibility("default"))) void launch_log_restart() {
    out = std::freopen(std::getenv("LAUNCH_LOG"), "w", out);
}

extern "C" __attribute__((visibility("default"))) void launch_log_flush() {
    std::fflush(out);
}
