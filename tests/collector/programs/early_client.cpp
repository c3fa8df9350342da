// A program that profiles itself from before CUDA starts: subscribes to CUPTI, takes kernel records, then
// runs one kernel. Prints what it got. "later": starts its profiler after CUDA.
#include <cuda.h>
#include <cupti.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int g_callbacks = 0, g_kernels = 0;

void callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
    ++g_callbacks;
}
void request(uint8_t** buffer, size_t* size, size_t* records) {
    *size = 65536;
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
    *records = 0;
}
void complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        g_kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    std::free(buffer);
}

int profile() {
    CUpti_SubscriberHandle subscriber = nullptr;
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "itself";
    const int result = cuptiSubscribe_v2(&subscriber, callback, nullptr, &params);
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    cuptiActivityRegisterCallbacks(request, complete);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    const bool later = argc > 1 && std::strcmp(argv[1], "later") == 0;
    int subscribed = later ? 0 : profile();
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    cuInit(0);
    if (later) subscribed = profile();
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuModuleLoadData(&module, "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel k\n");
    cuModuleGetFunction(&function, module, "k");
    const int launched = cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
    cuCtxSynchronize();
    cuptiActivityFlushAll(1);
    std::printf("subscribed %d launched %d callbacks %d kernels %d\n", subscribed, launched, g_callbacks,
                g_kernels);
    return 23;
}
