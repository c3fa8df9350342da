#pragma once
// How the runtime's functions are written. Each is one macro and a body over the driver API:
//
//     API(cudaFree, v3020, (void* devPtr), (devPtr)) { return checked(cuMemFree(device(devPtr))); }
//
// The macro makes the exported function: it raises the call to CUPTI's listener (cbid and parameter structure
// are named by the version), makes sure that the thread has a context, keeps the error for cudaGetLastError,
// and lets no exception out.
#include <cstdint>
#include <new>

// The headers declare the functions that are defined here, without a visibility of their own.
#pragma GCC visibility push(default)
#define CUDA_ENABLE_DEPRECATED
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include <cuda.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include "../core/hooks.h"

namespace attnscope::vgpu::cudart {

/// What the runtime keeps for each thread.
struct Thread {
    cudaError_t last_error = cudaSuccess;
    int device = 0;                  ///< cudaSetDevice's
    uint64_t bound = 0;              ///< the reset generation in which a context was made current; 0 never
    CUcontext context = nullptr;     ///< the primary context that the runtime made current
    bool per_thread_stream = false;  ///< inside a _ptsz or _ptds function: stream 0 is the thread's own
};
extern constinit thread_local Thread thread __attribute__((tls_model("initial-exec")));

/// The runtime's number for the driver's: equal but for two that the runtime does not have.
cudaError_t checked(CUresult result);

/// cuInit, once. cudaErrorNoDevice without a device.
cudaError_t initialise();
/// Gives the thread a current context: the one it has, else the primary context of its device.
cudaError_t bind_context_slowly();
extern uint64_t context_generation;
inline cudaError_t bind_context() {
    const uint64_t now = __atomic_load_n(&context_generation, __ATOMIC_ACQUIRE);
    return thread.bound == now ? cudaSuccess : bind_context_slowly();
}
/// After the driver said that there is no context: true when the thread had lost it and has one again.
bool restore_context();
/// The primary context of a device, retained for the life of the process.
cudaError_t primary_context(int device, CUcontext* context);
/// cudaErrorInvalidDevice for an ordinal out of range.
cudaError_t check_device(int device);
/// The device of the calling thread, after bind_context.
int current_device();
/// Filled once for each device.
cudaError_t device_properties(int device, const cudaDeviceProp** properties);

inline CUdeviceptr device(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}
inline CUdeviceptr* device(void** pointer) {
    return reinterpret_cast<CUdeviceptr*>(pointer);
}
inline CUstream driver_stream(cudaStream_t stream) {
    return stream == nullptr && thread.per_thread_stream ? CU_STREAM_PER_THREAD : stream;
}

/// Structures that the driver and the runtime declare alike under different names.
template <class To, class From>
To* alike(From* pointer) {
    static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
    return reinterpret_cast<To*>(pointer);
}
template <class To, class From>
To enumerator(From value) {
    return static_cast<To>(static_cast<int>(value));
}

inline cudaError_t remembered(cudaError_t error) {
    if (error != cudaSuccess) thread.last_error = error;
    return error;
}

template <bool needs_context, class Body>
cudaError_t guarded(const Body& body) noexcept {
    try {
        if constexpr (needs_context) {
            if (const cudaError_t error = bind_context()) return error;
        }
        const cudaError_t error = body();
        if (needs_context && error == cudaErrorDeviceUninitialized && restore_context()) return body();
        return error;
    } catch (const std::bad_alloc&) {
        return cudaErrorMemoryAllocation;
    } catch (...) {
        return cudaErrorUnknown;
    }
}

/// `symbol`: launches only, the mangled name of the kernel.
template <bool needs_context, class Body>
cudaError_t call(uint32_t cbid, const char* function, const void* parameters, const Body& body,
                 const char* symbol = nullptr) {
    ApiScope api(ApiDomain::runtime, cbid, function, parameters, symbol);
    return api.done(remembered(guarded<needs_context>(body)));
}

/// _ptsz and _ptds functions: the same bodies, with stream 0 as the thread's own.
class PerThreadStream {
  public:
    PerThreadStream() { thread.per_thread_stream = true; }
    ~PerThreadStream() { thread.per_thread_stream = false; }
    PerThreadStream(const PerThreadStream&) = delete;
    PerThreadStream& operator=(const PerThreadStream&) = delete;
};

}  // namespace attnscope::vgpu::cudart

#define CUDART_EXPORT extern "C" __attribute__((visibility("default")))
#define CUDART_UNPACK(...) __VA_ARGS__

#define CUDART_WRAPPER(needs_context, exported, body, version, parameters, arguments)                        \
    CUDART_EXPORT cudaError_t exported parameters {                                                          \
        const exported##_##version##_params recorded{CUDART_UNPACK arguments};                               \
        return attnscope::vgpu::cudart::call<needs_context>(CUPTI_RUNTIME_TRACE_CBID_##exported##_##version, \
                                                            #exported, &recorded,                            \
                                                            [&] { return body arguments; });                 \
    }
#define CUDART_PER_THREAD_WRAPPER(exported, body, version, parameters, arguments)                         \
    CUDART_EXPORT cudaError_t exported parameters {                                                       \
        const exported##_##version##_params recorded{CUDART_UNPACK arguments};                            \
        const attnscope::vgpu::cudart::PerThreadStream own_stream;                                        \
        return attnscope::vgpu::cudart::call<true>(CUPTI_RUNTIME_TRACE_CBID_##exported##_##version,       \
                                                   #exported, &recorded, [&] { return body arguments; }); \
    }

/// A function of the runtime, as above.
#define API(name, version, parameters, arguments)                           \
    static cudaError_t name##_body parameters;                              \
    CUDART_WRAPPER(true, name, name##_body, version, parameters, arguments) \
    static cudaError_t name##_body parameters
/// One that needs no context.
#define API_WITHOUT_CONTEXT(name, version, parameters, arguments)            \
    static cudaError_t name##_body parameters;                               \
    CUDART_WRAPPER(false, name, name##_body, version, parameters, arguments) \
    static cudaError_t name##_body parameters
/// One with a variant (`suffix` is ptsz or ptds) for the per-thread default stream.
#define API_WITH_STREAM(name, version, suffix, suffix_version, parameters, arguments)              \
    static cudaError_t name##_body parameters;                                                     \
    CUDART_WRAPPER(true, name, name##_body, version, parameters, arguments)                        \
    CUDART_PER_THREAD_WRAPPER(name##_##suffix, name##_body, suffix_version, parameters, arguments) \
    static cudaError_t name##_body parameters
/// One without parameters: CUPTI has no structure for it.
#define API_VOID(name, version)                                                                        \
    static cudaError_t name##_body();                                                                  \
    CUDART_EXPORT cudaError_t name() {                                                                 \
        return attnscope::vgpu::cudart::call<true>(CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, \
                                                   nullptr, name##_body);                              \
    }                                                                                                  \
    static cudaError_t name##_body()
