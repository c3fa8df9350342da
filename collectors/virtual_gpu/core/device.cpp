#include "collectors/virtual_gpu/core/device.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/attributes.h"
#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/entry.h"

namespace attnscope::vgpu {

namespace {

// The same device has the same UUID in every process, as a real one has: name and position, spread by FNV-1a.
CUuuid make_uuid(const Gpu& gpu, int position) {
    CUuuid uuid{};
    uint64_t hash = 0xcbf29ce484222325u;
    const std::string seed = "attnscope virtual " + gpu.id + " " + std::to_string(position);
    for (size_t i = 0; i < sizeof(uuid.bytes); i++) {
        for (char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        uuid.bytes[i] = static_cast<char>(hash >> 32);
    }
    return uuid;
}

DeviceLimits make_limits(VirtualDevice& device) {
    auto figure = [&](int attribute) { return silent_attribute(device, attribute); };
    DeviceLimits limits{};
    for (int i = 0; i < 3; i++) {
        limits.block[i] = figure(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        limits.grid[i] = figure(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    limits.threads_per_block = figure(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    limits.threads_per_sm = figure(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    limits.registers_per_block = figure(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    limits.registers_per_sm = figure(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    limits.shared_per_block = figure(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    limits.shared_per_block_optin = figure(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    limits.shared_per_sm = figure(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    limits.shared_reserved = figure(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    limits.multiprocessors = figure(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    limits.blocks_per_sm = figure(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    limits.clusters = figure(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0;
    limits.cooperative = figure(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
    return limits;
}

std::vector<std::unique_ptr<VirtualDevice>>* make_devices() {
    auto* made = new std::vector<std::unique_ptr<VirtualDevice>>();
    const char* text = std::getenv("ATTNSCOPE_VIRTUAL_DEVICES");
    if (text == nullptr || *text == '\0') {
        report("error", "no-virtual-device", "ATTNSCOPE_VIRTUAL_DEVICES names no virtual device",
               "set it to a device of the table, for example H100-SXM5");
        return made;
    }
    std::vector<Gpu> all;
    try {
        all = parse_virtual_devices(text);
    } catch (const std::exception& error) {
        report("error", "no-virtual-device", error.what(), "name a device of the table: " + known_gpus());
        return made;
    }
    std::vector<std::string> uuids;
    for (size_t i = 0; i < all.size(); i++)
        uuids.push_back(uuid_text(make_uuid(all[i], static_cast<int>(i))));
    for (int position : visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), uuids)) {
        auto device = std::make_unique<VirtualDevice>();
        device->ordinal = static_cast<int>(made->size());
        device->position = position;
        device->gpu = all[static_cast<size_t>(position)];
        device->uuid = make_uuid(device->gpu, position);
        device->limits = make_limits(*device);
        device->total_bytes = static_cast<size_t>(device->gpu.value("memory_bytes").value_or(0));
        made->push_back(std::move(device));
    }
    return made;
}

}  // namespace

const std::vector<std::unique_ptr<VirtualDevice>>& devices() {
    static const auto* all = make_devices();
    return *all;
}

VirtualDevice* device_or_null(int ordinal) {
    const auto& all = devices();
    return ordinal >= 0 && static_cast<size_t>(ordinal) < all.size() ? all[static_cast<size_t>(ordinal)].get()
                                                                     : nullptr;
}

bool VirtualDevice::take(size_t bytes) {
    size_t used = used_bytes.load(std::memory_order_relaxed);
    do {
        if (bytes > total_bytes || used > total_bytes - bytes) return false;
    } while (!used_bytes.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    size_t peak = peak_bytes.load(std::memory_order_relaxed);
    while (peak < used + bytes &&
           !peak_bytes.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
    }
    return true;
}

void VirtualDevice::give_back(size_t bytes) {
    used_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

std::string pci_bus_id(const VirtualDevice& device) {
    char text[32];
    std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(device.position + 1) & 0xffu);
    return text;
}

size_t device_count() {
    return devices().size();
}
const Gpu& device(int ordinal) {
    return devices().at(static_cast<size_t>(ordinal))->gpu;
}
int current_device() {
    const Context* context = current_context_or_null();
    return context != nullptr ? context->device->ordinal : 0;
}

}  // namespace attnscope::vgpu

extern "C" ATTNSCOPE_VGPU_EXPORT const char* attnscopeVgpuDeviceId(int32_t ordinal) {
    const auto* device = attnscope::vgpu::device_or_null(ordinal);
    return device != nullptr ? device->gpu.id.c_str() : nullptr;
}
