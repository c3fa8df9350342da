#pragma once
// Stream-ordered memory (cuMemAllocAsync). Work takes no time, so memory is free as soon as its free is
// issued.
#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include "collectors/virtual_gpu/core/device.h"

namespace attnscope::vgpu {

struct Pool {
    CUmemoryPool handle = nullptr;
    VirtualDevice* device = nullptr;
    bool is_default = false;
    std::atomic<size_t> used{0}, used_high{0};

    std::mutex mutex;
    std::map<int, uint64_t> settings;  ///< the attributes that only steer reuse
};

/// The device's default pool.
Pool& default_pool(VirtualDevice& device);
CUresult allocate_from_pool(Pool& pool, Context& context, size_t bytes, CUdeviceptr& pointer);
/// False when there is no such allocation.
bool free_to_pool(CUdeviceptr pointer);

}  // namespace attnscope::vgpu
