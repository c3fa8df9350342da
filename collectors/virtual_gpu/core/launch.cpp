#include "collectors/virtual_gpu/core/launch.h"

#include <cstring>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/memory.h"
#include "collectors/virtual_gpu/core/stream.h"

namespace attnscope::vgpu {

namespace {

constexpr unsigned portable_cluster = 8;       // CTAs: CUDA programming guide, thread block clusters
constexpr unsigned non_portable_cluster = 16;  // on devices that allow it

unsigned long long product(const Dim3& d) {
    return static_cast<unsigned long long>(d.x) * d.y * d.z;
}

// Registers are given to warps, in units of 256 for each warp (compute capability 7.0 and later).
unsigned registers_of(const Function& function, unsigned threads) {
    const unsigned warps = (threads + 31) / 32;
    return warps * ((function.resources.registers * 32 + 255) / 256 * 256);
}

CUresult check_cluster(const Function& function, const DeviceLimits& limits, const LaunchShape& shape) {
    Dim3 cluster = shape.cluster;
    const int required[3] = {function.cluster[0], function.cluster[1], function.cluster[2]};
    if (required[0] != 0) {
        const Dim3 fixed{static_cast<uint32_t>(required[0]), static_cast<uint32_t>(required[1]),
                         static_cast<uint32_t>(required[2])};
        if (product(cluster) != 0 && (cluster.x != fixed.x || cluster.y != fixed.y || cluster.z != fixed.z))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        cluster = fixed;
    }
    const unsigned long long size = product(cluster);
    if (size <= 1) return CUDA_SUCCESS;
    if (!limits.clusters) return CUDA_ERROR_NOT_SUPPORTED;
    const unsigned most = function.non_portable_cluster != 0 ? non_portable_cluster : portable_cluster;
    if (size > most) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (shape.grid.x % cluster.x != 0 || shape.grid.y % cluster.y != 0 || shape.grid.z % cluster.z != 0)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

// Launch-time words that may be pointers, in a block of parameters or behind one pointer for each parameter.
template <class Word>
void mark_written(const Function& function, Word&& word) {
    for (const ParameterPlan::Words& words : function.plan.words) {
        for (uint32_t i = 0; i < words.count; i++) {
            uint64_t value;
            std::memcpy(&value, word(words, i), sizeof value);
            if (is_reserved_address(value)) device_wrote(value);
        }
    }
}

void raise(const Function& function, const LaunchShape& shape, const Issue& issue) {
    const Hooks* listener = hooks();
    if (listener == nullptr || listener->kernel == nullptr) return;
    const KernelResources& resources = function.resources;
    KernelEvent event{};
    event.correlation = issue.correlation;
    event.device = issue.context->device->ordinal;
    event.context_id = issue.context->id;
    event.stream_id = issue.stream->id;
    event.name = function.name;
    event.grid = shape.grid;
    event.block = shape.block;
    event.cluster = shape.cluster;
    if (product(shape.cluster) == 0 && function.cluster[0] != 0)
        event.cluster = {static_cast<uint32_t>(function.cluster[0].load()),
                         static_cast<uint32_t>(function.cluster[1].load()),
                         static_cast<uint32_t>(function.cluster[2].load())};
    event.registers = resources.registers;
    event.static_shared = resources.static_shared_bytes;
    event.dynamic_shared = shape.dynamic_shared;
    event.local_per_thread = resources.local_bytes;
    event.resources_known = function.resources_known;
    event.launch_type = shape.cooperative ? 1 : 0;
    event.graph_id = issue.graph_id;
    event.graph_node_id = issue.graph_node_id;
    listener->kernel(event);
}

// The buffer of CU_LAUNCH_PARAM_BUFFER_POINTER; nullptr when `extra` names none.
const std::byte* extra_buffer(void** extra, size_t& bytes) {
    const void* buffer = nullptr;
    bytes = 0;
    for (size_t i = 0; extra != nullptr && extra[i] != CU_LAUNCH_PARAM_END && i < 16; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[i + 1];
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) std::memcpy(&bytes, extra[i + 1], sizeof bytes);
    }
    return static_cast<const std::byte*>(buffer);
}

}  // namespace

CUresult check_launch(const Function& function, const LaunchShape& shape) {
    const DeviceLimits& limits = function.context->device->limits;
    const uint32_t grid[3] = {shape.grid.x, shape.grid.y, shape.grid.z},
                   block[3] = {shape.block.x, shape.block.y, shape.block.z};
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || grid[i] > static_cast<uint32_t>(limits.grid[i])) return CUDA_ERROR_INVALID_VALUE;
        if (block[i] == 0 || block[i] > static_cast<uint32_t>(limits.block[i]))
            return CUDA_ERROR_INVALID_VALUE;
    }
    const unsigned long long threads = product(shape.block);
    if (threads > static_cast<unsigned long long>(limits.threads_per_block)) return CUDA_ERROR_INVALID_VALUE;
    if (function.resources_known) {
        if (registers_of(function, static_cast<unsigned>(threads)) >
            static_cast<unsigned>(limits.registers_per_block))
            return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
        // More threads than __launch_bounds__ allows.
        if (threads > function.resources.max_threads) return CUDA_ERROR_INVALID_VALUE;
    }
    if (shape.dynamic_shared >
        static_cast<uint32_t>(function.max_dynamic_shared.load(std::memory_order_relaxed)))
        return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = check_cluster(function, limits, shape); error != CUDA_SUCCESS) return error;
    if (shape.cooperative) {
        if (!limits.cooperative) return CUDA_ERROR_NOT_SUPPORTED;
        const int resident = resident_ctas(function, static_cast<int>(threads), shape.dynamic_shared);
        if (resident <= 0 || product(shape.grid) > static_cast<unsigned long long>(resident) *
                                                       static_cast<unsigned>(limits.multiprocessors))
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return CUDA_SUCCESS;
}

CUresult pack_parameters(const Function& function, const LaunchParameters& parameters,
                         std::vector<std::byte>& block) {
    block.clear();
    if (!function.resources_known) return CUDA_SUCCESS;
    block.resize(function.plan.block_bytes);
    if (block.empty()) return CUDA_SUCCESS;
    if (parameters.values != nullptr) {
        for (size_t i = 0; i < function.resources.parameters.size(); i++) {
            const KernelParameter& parameter = function.resources.parameters[i];
            if (parameters.values[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
            std::memcpy(block.data() + parameter.offset, parameters.values[i], parameter.size);
        }
        return CUDA_SUCCESS;
    }
    size_t bytes = 0;
    const std::byte* buffer = extra_buffer(parameters.extra, bytes);
    if (buffer == nullptr || bytes < block.size()) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(block.data(), buffer, block.size());
    return CUDA_SUCCESS;
}

void perform_launch(const Function& function, const LaunchShape& shape, const LaunchParameters& parameters,
                    const Issue& issue) {
    raise(function, shape, issue);
    if (!function.resources_known) {
        device_wrote_anywhere(*issue.context->device);
    } else if (parameters.values != nullptr) {
        mark_written(function, [&](const ParameterPlan::Words& words, uint32_t i) {
            return static_cast<const std::byte*>(parameters.values[words.parameter]) + words.first_byte +
                   size_t{i} * 8;
        });
    } else {
        size_t bytes = 0;
        const std::byte* buffer = extra_buffer(parameters.extra, bytes);
        if (buffer != nullptr)
            mark_written(function, [&](const ParameterPlan::Words& words, uint32_t i) {
                return buffer + words.offset + size_t{i} * 8;
            });
    }
}

void perform_launch(const Function& function, const LaunchShape& shape, const std::vector<std::byte>& block,
                    const Issue& issue) {
    raise(function, shape, issue);
    if (!function.resources_known) {
        device_wrote_anywhere(*issue.context->device);
        return;
    }
    mark_written(function, [&](const ParameterPlan::Words& words, uint32_t i) {
        return block.data() + words.offset + size_t{i} * 8;
    });
}

CUresult launch(CUfunction handle, LaunchShape shape, CUstream stream_handle,
                const LaunchParameters& parameters) {
    Stream* stream = nullptr;
    if (CUresult error = find_stream(stream_handle, stream); error != CUDA_SUCCESS) return error;
    Function* function = nullptr;
    if (CUresult error = find_launched(handle, *stream->context, function); error != CUDA_SUCCESS)
        return error;
    if (function->context != stream->context) return CUDA_ERROR_INVALID_HANDLE;
    if (function->plan.block_bytes != 0) {
        if (parameters.values != nullptr && parameters.extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
        size_t bytes = 0;
        if (parameters.values == nullptr &&
            (extra_buffer(parameters.extra, bytes) == nullptr || bytes < function->plan.block_bytes))
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (CUresult error = check_launch(*function, shape); error != CUDA_SUCCESS) return error;
    if (stream->capture.load(std::memory_order_acquire) != nullptr) {
        KernelNode node;
        node.function = function;
        node.shape = shape;
        if (CUresult error = pack_parameters(*function, parameters, node.block); error != CUDA_SUCCESS)
            return error;
        return add_captured(*stream, std::move(node));
    }
    if (CUresult error = refuse_implicit_capture(*stream); error != CUDA_SUCCESS) return error;
    perform_launch(*function, shape, parameters, Issue{stream->context, stream, current_correlation(), 0, 0});
    return CUDA_SUCCESS;
}

}  // namespace attnscope::vgpu
