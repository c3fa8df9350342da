// DEVICE records, out of the table of GPUs.
#include <cupti.h>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/activity_switches.h"
#include "collectors/virtual_gpu/cupti/buffers.h"
#include "collectors/virtual_gpu/cupti/records.h"

namespace attnscope::vgpu::cupti {
namespace {

/// 0 where the table has no such figure, as CUPTI's record has no way to say so.
double value(const Gpu& gpu, std::string_view key) {
    for (const Figure& figure : gpu.figures)
        if (figure.key == key) return figure.value;
    return 0;
}

}  // namespace

void record_devices() {
    if (!kind_enabled(CUPTI_ACTIVITY_KIND_DEVICE)) return;
    for (size_t ordinal = 0; ordinal < device_count(); ++ordinal) {
        const Gpu& gpu = device(static_cast<int>(ordinal));
        const auto figure = [&](const char* key) { return static_cast<uint32_t>(value(gpu, key)); };
        CUpti_ActivityDevice5 record{};
        record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
        record.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS;
        record.globalMemoryBandwidth =
            static_cast<uint64_t>(value(gpu, "dram_bytes_per_second") / 1000);  // in kBytes/s
        record.globalMemorySize = static_cast<uint64_t>(value(gpu, "memory_bytes"));
        record.constantMemorySize = figure("total_constant_memory");
        record.l2CacheSize = figure("l2_cache_size");
        record.numThreadsPerWarp = figure("warp_size");
        record.coreClockRate = figure("clock_rate");  // kHz, as CUDA's attribute
        record.numMemcpyEngines = figure("async_engine_count");
        record.numMultiprocessors = figure("multiprocessor_count");
        record.maxWarpsPerMultiprocessor =
            record.numThreadsPerWarp ? figure("max_threads_per_multiprocessor") / record.numThreadsPerWarp
                                     : 0;
        record.maxBlocksPerMultiprocessor = figure("max_blocks_per_multiprocessor");
        record.maxSharedMemoryPerMultiprocessor = figure("max_shared_memory_per_multiprocessor");
        record.maxRegistersPerMultiprocessor = figure("max_registers_per_multiprocessor");
        record.maxRegistersPerBlock = figure("max_registers_per_block");
        record.maxSharedMemoryPerBlock = figure("max_shared_memory_per_block");
        record.maxThreadsPerBlock = figure("max_threads_per_block");
        record.maxBlockDimX = figure("max_block_dim_x");
        record.maxBlockDimY = figure("max_block_dim_y");
        record.maxBlockDimZ = figure("max_block_dim_z");
        record.maxGridDimX = figure("max_grid_dim_x");
        record.maxGridDimY = figure("max_grid_dim_y");
        record.maxGridDimZ = figure("max_grid_dim_z");
        record.computeCapabilityMajor = static_cast<uint32_t>(gpu.major);
        record.computeCapabilityMinor = static_cast<uint32_t>(gpu.minor);
        record.id = static_cast<uint32_t>(ordinal);
        record.eccEnabled = figure("ecc_enabled");
        record.name = gpu.name.c_str();
        record.isCudaVisible = 1;
        append(record);
    }
}

}  // namespace attnscope::vgpu::cupti
