#pragma once
// The virtual devices: the rows of the GPU table that the program sees, and what the driver says of them.
#include <cuda.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "attnscope/gpu.h"

namespace attnscope::vgpu {

struct Context;
struct Pool;

/// The launch limits, as integers that the launch path can compare without a look-up.
struct DeviceLimits {
    int grid[3];
    int block[3];
    int threads_per_block;
    int threads_per_sm;
    int registers_per_block;
    int registers_per_sm;
    int shared_per_block;        ///< bytes without opting in: 48 KiB
    int shared_per_block_optin;  ///< bytes
    int shared_per_sm;
    int shared_reserved;  ///< bytes that the system takes of each CTA
    int multiprocessors;
    int blocks_per_sm;
    bool clusters;
    bool cooperative;
};

struct VirtualDevice {
    int ordinal = 0;   ///< as the program counts, after CUDA_VISIBLE_DEVICES
    int position = 0;  ///< among all virtual devices: decides UUID and PCI address
    Gpu gpu;
    CUuuid uuid{};
    DeviceLimits limits{};
    size_t total_bytes = 0;

    std::atomic<size_t> used_bytes{
        0};  ///< physical memory taken, in whole 2 MiB pieces as the driver takes it
    std::atomic<size_t> peak_bytes{0};

    std::mutex mutex;  ///< guards what follows
    Context* primary = nullptr;
    unsigned primary_references = 0;
    unsigned primary_flags = 0;
    Pool* default_pool = nullptr;
    Pool* current_pool = nullptr;

    /// False, and nothing taken, when the device has not that much left.
    bool take(size_t bytes);
    void give_back(size_t bytes);
};

/// All devices that the program sees; parsed at the first call.
const std::vector<std::unique_ptr<VirtualDevice>>& devices();
/// nullptr for a bad ordinal.
VirtualDevice* device_or_null(int ordinal);

/// CU_DEVICE_ATTRIBUTE_* by number. A figure that the table lacks, or only assumes, is told to the observer.
/// False for a number that no CUDA 13.0 header knows.
bool device_attribute(VirtualDevice& device, int attribute, int& value);

/// "0000:01:00.0"
std::string pci_bus_id(const VirtualDevice& device);

/// The devices that CUDA_VISIBLE_DEVICES leaves of `count`, in its order: indices or UUID prefixes
/// ("GPU-..."), cut at the first entry that names none or repeats one. nullptr leaves all.
std::vector<int> visible_devices(const char* text, const std::vector<std::string>& uuids);
std::string uuid_text(const CUuuid& uuid);

}  // namespace attnscope::vgpu
