// Launches. The driver validates; the runtime only names some of its refusals differently.
#include <atomic>
#include <cstdlib>
#include <vector>

#include "registry.h"

using namespace attnscope::vgpu::cudart;

// The launch attributes of the two are the same structure.
static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value));
static_assert(int(cudaLaunchAttributeClusterDimension) == int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
static_assert(int(cudaLaunchAttributePreferredSharedMemoryCarveout) ==
              int(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT));

namespace {

bool outside_limits(const dim3& grid, const dim3& block) {
    const cudaDeviceProp* p = nullptr;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
        return true;
    if (device_properties(current_device(), &p) != cudaSuccess) return false;
    const auto over = [](unsigned int value, int limit) { return value > static_cast<unsigned int>(limit); };
    const unsigned long long threads = 1ull * block.x * block.y * block.z;
    return over(grid.x, p->maxGridSize[0]) || over(grid.y, p->maxGridSize[1]) ||
           over(grid.z, p->maxGridSize[2]) || over(block.x, p->maxThreadsDim[0]) ||
           over(block.y, p->maxThreadsDim[1]) || over(block.z, p->maxThreadsDim[2]) ||
           threads > static_cast<unsigned long long>(p->maxThreadsPerBlock);
}

/// The runtime says "invalid configuration argument" where a grid or block lies outside the device's limits,
/// and leaves "invalid argument" for the rest (too much dynamic shared memory).
cudaError_t launched(CUresult result, const dim3& grid, const dim3& block) {
    if (result == CUDA_ERROR_INVALID_VALUE && outside_limits(grid, block))
        return cudaErrorInvalidConfiguration;
    return checked(result);
}

/// What a launch hands to the driver is a CUkernel, as CUDA 13's runtime does. For clients that must take
/// both, ATTNSCOPE_VGPU_CUKERNEL=1 makes it a CUkernel in half of the launches and a CUfunction in the
/// others.
CUfunction launched_handle(const Function& function) {
    static const bool half = std::getenv("ATTNSCOPE_VGPU_CUKERNEL") != nullptr;
    static std::atomic<unsigned> launches{0};
    CUfunction resolved = nullptr;
    if (!half || function.kernel == nullptr || launches.fetch_add(1) % 2 == 0 ||
        cuKernelGetFunction(&resolved, function.kernel) != CUDA_SUCCESS)
        return function.function;
    return resolved;
}

cudaError_t launch(const void* host, const dim3& grid, const dim3& block, void** args, size_t shared,
                   cudaStream_t stream, bool cooperative) {
    Function function;
    if (const cudaError_t error = find_function(host, &function)) return error;
    if (shared > 0xffffffffu) return cudaErrorInvalidValue;
    const auto bytes = static_cast<unsigned int>(shared);
    const CUstream on = driver_stream(stream);
    const CUfunction handle = launched_handle(function);
    const CUresult result = cooperative ? cuLaunchCooperativeKernel(handle, grid.x, grid.y, grid.z, block.x,
                                                                    block.y, block.z, bytes, on, args)
                                        : cuLaunchKernel(handle, grid.x, grid.y, grid.z, block.x, block.y,
                                                         block.z, bytes, on, args, nullptr);
    return launched(result, grid, block);
}

struct Configuration {
    dim3 grid;
    dim3 block;
    size_t shared;
    cudaStream_t stream;
};
// A stack: the arguments of a <<<>>> launch may themselves launch.
std::vector<Configuration>& configurations() {
    static thread_local std::vector<Configuration> stack;
    return stack;
}

}  // namespace

namespace attnscope::vgpu::cudart {

cudaError_t driver_launch_config(const cudaLaunchConfig_t& config, CUlaunchConfig* driver) {
    if (config.dynamicSmemBytes > 0xffffffffu) return cudaErrorInvalidValue;
    *driver = {};
    driver->gridDimX = config.gridDim.x;
    driver->gridDimY = config.gridDim.y;
    driver->gridDimZ = config.gridDim.z;
    driver->blockDimX = config.blockDim.x;
    driver->blockDimY = config.blockDim.y;
    driver->blockDimZ = config.blockDim.z;
    driver->sharedMemBytes = static_cast<unsigned int>(config.dynamicSmemBytes);
    driver->hStream = driver_stream(config.stream);
    driver->attrs = alike<CUlaunchAttribute>(config.attrs);
    driver->numAttrs = config.numAttrs;
    return cudaSuccess;
}

}  // namespace attnscope::vgpu::cudart

static cudaError_t launch_extended(const cudaLaunchConfig_t* config, const void* func, void** args) {
    if (config == nullptr) return cudaErrorInvalidConfiguration;
    Function function;
    if (const cudaError_t error = find_function(func, &function)) return error;
    CUlaunchConfig driver;
    if (const cudaError_t error = driver_launch_config(*config, &driver)) return error;
    return launched(cuLaunchKernelEx(&driver, launched_handle(function), args, nullptr), config->gridDim,
                    config->blockDim);
}

// One exported launch: its parameters for the listener, the kernel's name with them.
#define LAUNCH(exported, version, parameters, arguments, func, body)                                     \
    CUDART_EXPORT cudaError_t exported parameters {                                                      \
        const exported##_##version##_params recorded{CUDART_UNPACK arguments};                           \
        return call<true>(                                                                               \
            CUPTI_RUNTIME_TRACE_CBID_##exported##_##version, #exported, &recorded, [&] { return body; }, \
            registered_name(func));                                                                      \
    }
#define LAUNCH_PER_THREAD(exported, version, parameters, arguments, func, body)                          \
    CUDART_EXPORT cudaError_t exported parameters {                                                      \
        const exported##_##version##_params recorded{CUDART_UNPACK arguments};                           \
        const PerThreadStream own_stream;                                                                \
        return call<true>(                                                                               \
            CUPTI_RUNTIME_TRACE_CBID_##exported##_##version, #exported, &recorded, [&] { return body; }, \
            registered_name(func));                                                                      \
    }
#define LAUNCH_PARAMETERS \
    (const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem, cudaStream_t stream)
#define LAUNCH_ARGUMENTS (func, gridDim, blockDim, args, sharedMem, stream)

LAUNCH(cudaLaunchKernel, v7000, LAUNCH_PARAMETERS, LAUNCH_ARGUMENTS, func,
       launch(func, gridDim, blockDim, args, sharedMem, stream, false))
LAUNCH_PER_THREAD(cudaLaunchKernel_ptsz, v7000, LAUNCH_PARAMETERS, LAUNCH_ARGUMENTS, func,
                  launch(func, gridDim, blockDim, args, sharedMem, stream, false))
LAUNCH(cudaLaunchCooperativeKernel, v9000, LAUNCH_PARAMETERS, LAUNCH_ARGUMENTS, func,
       launch(func, gridDim, blockDim, args, sharedMem, stream, true))
LAUNCH_PER_THREAD(cudaLaunchCooperativeKernel_ptsz, v9000, LAUNCH_PARAMETERS, LAUNCH_ARGUMENTS, func,
                  launch(func, gridDim, blockDim, args, sharedMem, stream, true))
LAUNCH(cudaLaunchKernelExC, v11060, (const cudaLaunchConfig_t* config, const void* func, void** args),
       (config, func, args), func, launch_extended(config, func, args))
LAUNCH_PER_THREAD(cudaLaunchKernelExC_ptsz, v11060,
                  (const cudaLaunchConfig_t* config, const void* func, void** args), (config, func, args),
                  func, launch_extended(config, func, args))

// What CUDA 13's <<<>>> calls. CUPTI publishes no parameter structure for it.
CUDART_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args,
                                             size_t sharedMem, cudaStream_t stream) {
    return call<true>(
        CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, "__cudaLaunchKernel", nullptr,
        [&] { return launch(kernel, gridDim, blockDim, args, sharedMem, stream, false); },
        registered_name(kernel));
}

CUDART_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                                                  void** args, size_t sharedMem, cudaStream_t stream) {
    const PerThreadStream own_stream;
    return call<true>(
        CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000, "__cudaLaunchKernel_ptsz", nullptr,
        [&] { return launch(kernel, gridDim, blockDim, args, sharedMem, stream, false); },
        registered_name(kernel));
}

CUDART_EXPORT unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                                   cudaStream_t stream) {
    configurations().push_back({gridDim, blockDim, sharedMem, stream});
    return 0;
}

CUDART_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem,
                                                     void* stream) {
    if (configurations().empty()) return remembered(cudaErrorMissingConfiguration);
    const Configuration& top = configurations().back();
    *gridDim = top.grid;
    *blockDim = top.block;
    *sharedMem = top.shared;
    *static_cast<cudaStream_t*>(stream) = top.stream;
    configurations().pop_back();
    return cudaSuccess;
}
