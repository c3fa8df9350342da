// cuDevicePrimaryCtx*: the one context of a device that all its users share.
#include <utility>

#include "collectors/virtual_gpu/core/context.h"
#include "driver_functions.h"

namespace attnscope::vgpu::driver {

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice ordinal) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    std::unique_lock lock(device->mutex);
    device->primary_references++;
    if (device->primary == nullptr) {
        // The listener of the new context may ask the device for things: not under its lock. Two threads may
        // race here.
        lock.unlock();
        Context* made = create_context(*device, device->primary_flags, true);
        lock.lock();
        if (device->primary == nullptr) {
            device->primary = made;
        } else {
            lock.unlock();
            destroy_context(*made);
            lock.lock();
        }
    }
    *out = device->primary->handle;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    Context* last = nullptr;
    {
        std::lock_guard lock(device->mutex);
        if (device->primary_references == 0) return CUDA_ERROR_INVALID_CONTEXT;
        if (--device->primary_references == 0) std::swap(last, device->primary);
    }
    if (last != nullptr) destroy_context(*last);
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
    return driver::cuDevicePrimaryCtxRelease_v2(ordinal);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    Context* last = nullptr;
    {
        std::lock_guard lock(device->mutex);
        std::swap(last, device->primary);
        device->primary_references = 0;
    }
    if (last != nullptr) destroy_context(*last);
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
    return driver::cuDevicePrimaryCtxReset_v2(ordinal);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(device->mutex);
    *active = device->primary != nullptr;
    *flags = device->primary_flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
    VirtualDevice* device = device_or_null(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if ((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(device->mutex);
    device->primary_flags = flags;
    if (device->primary != nullptr) device->primary->flags = flags;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags) {
    return driver::cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

}  // namespace attnscope::vgpu::driver
