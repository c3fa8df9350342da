// Lazy initialisation: the driver on first need, and on each thread the primary context of its device.
#include <mutex>

#include "../core/api.h"
#include "api.h"

using namespace attnscope::vgpu::cudart;

// cudaProfiler.h is not among PyPI's headers.
extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();

namespace attnscope::vgpu::cudart {

uint64_t context_generation = 1;

namespace {

constexpr int max_devices = 64;

struct PrimaryContexts {
    std::mutex mutex;
    CUcontext contexts[max_devices] = {};
};
// Never destroyed: other libraries' destructors may still call CUDA.
PrimaryContexts& primaries() {
    static PrimaryContexts& instance = *new PrimaryContexts;
    return instance;
}

}  // namespace

cudaError_t initialise() {
    static const cudaError_t result = checked(cuInit(0));
    return result;
}

cudaError_t check_device(int device) {
    if (const cudaError_t error = initialise()) return error;
    int count = 0;
    if (const CUresult result = cuDeviceGetCount(&count)) return checked(result);
    return device >= 0 && device < count && device < max_devices ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t primary_context(int device, CUcontext* context) {
    if (const cudaError_t error = check_device(device)) return error;
    PrimaryContexts& all = primaries();
    {
        const std::lock_guard lock(all.mutex);
        if ((*context = all.contexts[device])) return cudaSuccess;
    }
    // Not under the lock: the driver tells CUPTI's listeners of the new context, and they may call back into
    // the runtime.
    CUcontext retained = nullptr;
    if (const CUresult result = cuDevicePrimaryCtxRetain(&retained, device)) return checked(result);
    bool first = false;
    {
        const std::lock_guard lock(all.mutex);
        first = all.contexts[device] == nullptr;
        *context = first ? all.contexts[device] = retained : all.contexts[device];
    }
    if (!first) cuDevicePrimaryCtxRelease(device);
    return cudaSuccess;
}

cudaError_t bind_context_slowly() {
    if (const cudaError_t error = initialise()) return error;
    const uint64_t generation = __atomic_load_n(&context_generation, __ATOMIC_ACQUIRE);
    CUcontext current = nullptr;
    if (const CUresult result = cuCtxGetCurrent(&current)) return checked(result);
    // A context that the program made current itself (driver API) stays.
    if (current == nullptr || current == thread.context) {
        CUcontext primary = nullptr;
        if (const cudaError_t error = primary_context(thread.device, &primary)) return error;
        if (const CUresult result = cuCtxSetCurrent(primary)) return checked(result);
        thread.context = primary;
    }
    thread.bound = generation;
    return cudaSuccess;
}

bool restore_context() {
    CUcontext current = nullptr;
    if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != nullptr) return false;
    thread.bound = 0;
    return bind_context_slowly() == cudaSuccess;
}

int current_device() {
    return attnscope::vgpu::current_device();
}

}  // namespace attnscope::vgpu::cudart

API_WITHOUT_CONTEXT(cudaGetDeviceCount, v3020, (int* count), (count)) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 0;
    if (const cudaError_t error = initialise()) return error;
    if (const CUresult result = cuDeviceGetCount(count)) return checked(result);
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

API_WITHOUT_CONTEXT(cudaSetDevice, v3020, (int device), (device)) {
    const uint64_t generation = __atomic_load_n(&context_generation, __ATOMIC_ACQUIRE);
    CUcontext primary = nullptr;
    if (const cudaError_t error = primary_context(device, &primary)) return error;
    if (const CUresult result = cuCtxSetCurrent(primary)) return checked(result);
    thread.device = device;
    thread.context = primary;
    thread.bound = generation;
    return cudaSuccess;
}

API_WITHOUT_CONTEXT(cudaGetDevice, v3020, (int* device), (device)) {
    if (device == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = initialise()) return error;
    // No context is made for the question.
    *device = thread.device;
    CUcontext current = nullptr;
    if (thread.bound == 0 && (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == nullptr))
        return cudaSuccess;
    *device = current_device();
    return cudaSuccess;
}

API_WITHOUT_CONTEXT(cudaInitDevice, v12000, (int device, unsigned int deviceFlags, unsigned int flags),
                    (device, deviceFlags, flags)) {
    if (const cudaError_t error = check_device(device)) return error;
    if (flags & cudaInitDeviceFlagsAreValid) {
        if (const CUresult result = cuDevicePrimaryCtxSetFlags(device, deviceFlags)) return checked(result);
    }
    CUcontext primary = nullptr;
    return primary_context(device, &primary);
}

API_WITHOUT_CONTEXT(cudaSetDeviceFlags, v3020, (unsigned int flags), (flags)) {
    if (flags & ~static_cast<unsigned int>(cudaDeviceMask)) return cudaErrorInvalidValue;
    if (const cudaError_t error = initialise()) return error;
    return checked(
        cuDevicePrimaryCtxSetFlags(thread.device, flags & ~static_cast<unsigned int>(cudaDeviceMapHost)));
}

API_WITHOUT_CONTEXT(cudaGetDeviceFlags, v7000, (unsigned int* flags), (flags)) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = initialise()) return error;
    int active = 0;
    const CUresult result = cuDevicePrimaryCtxGetState(thread.device, flags, &active);
    *flags |= cudaDeviceMapHost;  // always on where addressing is unified
    return checked(result);
}

static cudaError_t reset_device() {
    if (const cudaError_t error = initialise()) return error;
    CUcontext current = nullptr;
    int ordinal = thread.device;
    if (thread.bound != 0 && cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr)
        ordinal = current_device();
    {
        PrimaryContexts& all = primaries();
        const std::lock_guard lock(all.mutex);
        all.contexts[ordinal] = nullptr;
    }
    const CUresult result = cuDevicePrimaryCtxReset(ordinal);
    __atomic_add_fetch(&context_generation, 1, __ATOMIC_ACQ_REL);
    return checked(result);
}

CUDART_EXPORT cudaError_t cudaDeviceReset() {
    return call<false>(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020, "cudaDeviceReset", nullptr,
                       reset_device);
}

API_VOID(cudaDeviceSynchronize, v3020) {
    return checked(cuCtxSynchronize());
}
API_VOID(cudaCtxResetPersistingL2Cache, v11000) {
    return checked(cuCtxResetPersistingL2Cache());
}
API_VOID(cudaProfilerStart, v4000) {
    return checked(cuProfilerStart());
}
API_VOID(cudaProfilerStop, v4000) {
    return checked(cuProfilerStop());
}
