// Error numbers, names and sentences, and the last error of a thread.
// error_table.inc holds the real libcudart 13.0's table; cudart_errors_test compares the two where the real
// one is present.
#include "api.h"

using namespace attnscope::vgpu::cudart;

namespace attnscope::vgpu::cudart {

constinit thread_local Thread thread __attribute__((tls_model("initial-exec")));

int remember_unsupported();

cudaError_t checked(CUresult result) {
    switch (static_cast<int>(result)) {
        // The driver's numbers that the runtime does not have: CUDA_ERROR_CONTEXT_ALREADY_CURRENT,
        // CUDA_ERROR_KEY_ROTATION.
        case 202:
        case 916:
            return cudaErrorUnknown;
        default:
            return static_cast<cudaError_t>(static_cast<int>(result));
    }
}

int remember_unsupported() {
    return remembered(cudaErrorNotSupported);
}

}  // namespace attnscope::vgpu::cudart

namespace {

struct ErrorText {
    const char* name;
    const char* text;
};

ErrorText describe(cudaError_t error) {
    switch (static_cast<int>(error)) {
#define CUDART_ERROR(number, name, text) \
    case number:                         \
        return {#name, text};
#include "error_table.inc"
#undef CUDART_ERROR
        default:
            return {"unrecognized error code", "unrecognized error code"};
    }
}

}  // namespace

CUDART_EXPORT const char* cudaGetErrorName(cudaError_t error) {
    return describe(error).name;
}
CUDART_EXPORT const char* cudaGetErrorString(cudaError_t error) {
    return describe(error).text;
}

// No error of a virtual kernel ever corrupts a context, so none is sticky.
CUDART_EXPORT cudaError_t cudaGetLastError() {
    attnscope::vgpu::ApiScope api(attnscope::vgpu::ApiDomain::runtime,
                                  CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, "cudaGetLastError",
                                  nullptr);
    const cudaError_t error = thread.last_error;
    thread.last_error = cudaSuccess;
    return api.done(error);
}

CUDART_EXPORT cudaError_t cudaPeekAtLastError() {
    attnscope::vgpu::ApiScope api(attnscope::vgpu::ApiDomain::runtime,
                                  CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, "cudaPeekAtLastError",
                                  nullptr);
    return api.done(thread.last_error);
}
