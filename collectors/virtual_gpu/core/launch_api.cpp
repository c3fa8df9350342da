// cuLaunch*.
#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "collectors/virtual_gpu/core/launch.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

const char* kernel_name(const void* handle) {
    if (const Function* function = handles<Function>().get(handle)) return function->name;
    if (const Kernel* kernel = handles<Kernel>().get(handle)) return kernel->name;
    return nullptr;
}

bool apply_launch_attribute(LaunchShape& shape, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    switch (id) {
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
            return value.clusterDim.x != 0 && value.clusterDim.y != 0 && value.clusterDim.z != 0;
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            shape.cooperative = value.cooperative != 0;
            return true;
        // These change when a kernel runs and how fast, nothing that is recorded of it.
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            return true;
        default:
            return false;
    }
}

namespace {
CUresult launch_old(CUfunction handle, int grid_x, int grid_y, CUstream stream) {
    Function* function = handles<Function>().get(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (grid_x <= 0 || grid_y <= 0) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape;
    shape.grid = {static_cast<uint32_t>(grid_x), static_cast<uint32_t>(grid_y), 1};
    shape.block = {static_cast<uint32_t>(function->block_shape[0]),
                   static_cast<uint32_t>(function->block_shape[1]),
                   static_cast<uint32_t>(function->block_shape[2])};
    shape.dynamic_shared = function->old_shared;
    size_t bytes = function->old_parameters.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, function->old_parameters.data(),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    return launch(handle, shape, stream, {nullptr, extra});
}
}  // namespace

namespace driver {

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** values, void** extra) {
    LaunchShape shape;
    shape.grid = {gx, gy, gz};
    shape.block = {bx, by, bz};
    shape.dynamic_shared = shared;
    return launch(function, shape, stream, {values, extra});
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void** values) {
    LaunchShape shape;
    shape.grid = {gx, gy, gz};
    shape.block = {bx, by, bz};
    shape.dynamic_shared = shared;
    shape.cooperative = true;
    return launch(function, shape, stream, {values, nullptr});
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** values, void** extra) {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
        return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape;
    shape.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    shape.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    shape.dynamic_shared = config->sharedMemBytes;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute& attribute = config->attrs[i];
        if (apply_launch_attribute(shape, attribute.id, attribute.value)) continue;
        if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        report_unsupported(
            "CUDA driver",
            ("cuLaunchKernelEx with launch attribute " + std::to_string(attribute.id)).c_str());
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return launch(function, shape, config->hStream, {values, extra});
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (stream->capture.load(std::memory_order_acquire) != nullptr)
        return add_captured(*stream, HostNode{function, user});
    if (CUresult error = refuse_implicit_capture(*stream); error != CUDA_SUCCESS) return error;
    stream->host_ticket = run_on_host_worker([function, user] { function(user); });
    return CUDA_SUCCESS;
}

CUresult cuLaunch(CUfunction function) {
    return launch_old(function, 1, 1, nullptr);
}
CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    return launch_old(function, width, height, nullptr);
}
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    return launch_old(function, width, height, stream);
}

}  // namespace driver
}  // namespace attnscope::vgpu
