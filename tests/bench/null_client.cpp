// The least that a client of CUPTI's records can do: asks for what attnscope asks for and throws it away.
// What it costs is CUPTI's own part, which no client can avoid. Loaded through CUDA_INJECTION64_PATH.
#include <cupti.h>

#include <cstdlib>
#include <initializer_list>

namespace {

constexpr size_t kBytes = 1 << 20;

void requested(uint8_t** buffer, size_t* size, size_t* max_records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBytes));
    *size = kBytes;
    *max_records = 0;
}

void completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) {
    std::free(buffer);
}

}  // namespace

extern "C" int InitializeInjection() {
    cuptiActivityRegisterCallbacks(requested, completed);
    for (const CUpti_ActivityKind kind :
         {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
          CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION})
        cuptiActivityEnable(kind);
    for (const CUpti_CallbackId launch : {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                                          CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060})
        cuptiActivityEnableRuntimeApi(launch, 1);
    cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1);
    return 1;
}
