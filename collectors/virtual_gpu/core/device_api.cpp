// cuDevice*.
#include <cstdio>
#include <cstring>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/attributes.h"
#include "collectors/virtual_gpu/core/device.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
CUresult find_device(CUdevice ordinal, VirtualDevice*& device) {
    device = device_or_null(ordinal);
    return device != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult copy_text(const std::string& text, char* out, int size) {
    if (out == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::strncpy(out, text.c_str(), static_cast<size_t>(size) - 1);
    out[size - 1] = '\0';
    return CUDA_SUCCESS;
}
}  // namespace

namespace driver {

CUresult cuDeviceGet(CUdevice* out, int ordinal) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device_or_null(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(devices().size());
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    return copy_text(device->gpu.name, name, size);
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    *uuid = device->uuid;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) {
    return driver::cuDeviceGetUuid_v2(uuid, ordinal);
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    *bytes = device->total_bytes;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    return device_attribute(*device, attribute, *value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    *major = device->gpu.major;
    *minor = device->gpu.minor;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    auto figure = [&](int attribute) {
        int value = 0;
        device_attribute(*device, attribute, value);
        return value;
    };
    *properties = {};
    for (int i = 0; i < 3; i++) {
        properties->maxThreadsDim[i] = figure(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        properties->maxGridSize[i] = figure(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    properties->maxThreadsPerBlock = figure(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    properties->sharedMemPerBlock = figure(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    properties->totalConstantMemory = figure(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    properties->SIMDWidth = figure(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    properties->memPitch = figure(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    properties->regsPerBlock = figure(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    properties->clockRate = figure(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    properties->textureAlign = figure(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    return copy_text(pci_bus_id(*device), text, size);
}
CUresult cuDeviceGetByPCIBusId(CUdevice* out, const char* text) {
    if (out == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    // "domain:bus:device.function", "domain:bus:device" or "bus:device.function", in hexadecimal.
    if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return CUDA_ERROR_INVALID_VALUE;
    }
    for (const auto& device : devices()) {
        if (domain != 0 || slot != 0 || function != 0 || bus != static_cast<unsigned>(device->position + 1))
            continue;
        *out = device->ordinal;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetLuid(char*, unsigned*, CUdevice) {
    return CUDA_ERROR_NOT_SUPPORTED;
}  // Windows alone, as documented

CUresult cuDeviceCanAccessPeer(int* can, CUdevice ordinal, CUdevice peer) {
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device_or_null(ordinal) == nullptr || device_or_null(peer) == nullptr)
        return CUDA_ERROR_INVALID_DEVICE;
    *can = ordinal != peer;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device_or_null(source) == nullptr || device_or_null(destination) == nullptr || source == destination)
        return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
        case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
            *value = 0;
            return CUDA_SUCCESS;
        case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
            *value = 1;
            return CUDA_SUCCESS;
        case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
            *value = 0;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}
CUresult cuDeviceGetExecAffinitySupport(int* value, CUexecAffinityType type, CUdevice ordinal) {
    if (value == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_INVALID_VALUE;
    if (device_or_null(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* elements, CUarray_format, unsigned, CUdevice ordinal) {
    VirtualDevice* device = nullptr;
    if (elements == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = find_device(ordinal, device); error != CUDA_SUCCESS) return error;
    *elements =
        static_cast<size_t>(silent_attribute(*device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
    return CUDA_SUCCESS;
}

}  // namespace driver
}  // namespace attnscope::vgpu
