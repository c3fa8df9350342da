// Allocation of device, host and managed memory, and what is known of a pointer.
#include "api.h"

using namespace attnscope::vgpu::cudart;

API(cudaMalloc, v3020, (void** devPtr, size_t size), (devPtr, size)) {
    if (devPtr == nullptr) return cudaErrorInvalidValue;
    *devPtr = nullptr;
    // Nothing asked, nothing given: a success, where the driver would refuse.
    return size == 0 ? cudaSuccess : checked(cuMemAlloc(device(devPtr), size));
}

API(cudaFree, v3020, (void* devPtr), (devPtr)) {
    return devPtr == nullptr ? cudaSuccess : checked(cuMemFree(device(devPtr)));
}

API(cudaMallocPitch, v3020, (void** devPtr, size_t* pitch, size_t width, size_t height),
    (devPtr, pitch, width, height)) {
    if (devPtr == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    *devPtr = nullptr;
    *pitch = 0;
    return width == 0 || height == 0 ? cudaSuccess
                                     : checked(cuMemAllocPitch(device(devPtr), pitch, width, height, 4));
}

API(cudaMalloc3D, v3020, (cudaPitchedPtr * pitchedDevPtr, cudaExtent extent), (pitchedDevPtr, extent)) {
    if (pitchedDevPtr == nullptr) return cudaErrorInvalidValue;
    *pitchedDevPtr = {nullptr, 0, extent.width, extent.height};
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    return checked(cuMemAllocPitch(device(&pitchedDevPtr->ptr), &pitchedDevPtr->pitch, extent.width,
                                   extent.height * extent.depth, 4));
}

API(cudaMallocManaged, v6000, (void** devPtr, size_t size, unsigned int flags), (devPtr, size, flags)) {
    if (devPtr == nullptr || size == 0) return cudaErrorInvalidValue;
    return checked(cuMemAllocManaged(device(devPtr), size, flags));
}

static cudaError_t allocate_host(void** pointer, size_t size, unsigned int flags) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    *pointer = nullptr;
    return size == 0 ? cudaSuccess : checked(cuMemHostAlloc(pointer, size, flags));
}

API(cudaMallocHost, v3020, (void** ptr, size_t size), (ptr, size)) {
    return allocate_host(ptr, size, 0);
}

API(cudaHostAlloc, v3020, (void** pHost, size_t size, unsigned int flags), (pHost, size, flags)) {
    static_assert(cudaHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE &&
                  cudaHostAllocMapped == CU_MEMHOSTALLOC_DEVICEMAP &&
                  cudaHostAllocWriteCombined == CU_MEMHOSTALLOC_WRITECOMBINED);
    return allocate_host(pHost, size, flags);
}

API(cudaFreeHost, v3020, (void* ptr), (ptr)) {
    return ptr == nullptr ? cudaSuccess : checked(cuMemFreeHost(ptr));
}

API(cudaHostRegister, v4000, (void* ptr, size_t size, unsigned int flags), (ptr, size, flags)) {
    static_assert(cudaHostRegisterPortable == CU_MEMHOSTREGISTER_PORTABLE &&
                  cudaHostRegisterMapped == CU_MEMHOSTREGISTER_DEVICEMAP &&
                  cudaHostRegisterIoMemory == CU_MEMHOSTREGISTER_IOMEMORY &&
                  cudaHostRegisterReadOnly == CU_MEMHOSTREGISTER_READ_ONLY);
    return checked(cuMemHostRegister(ptr, size, flags));
}

API(cudaHostUnregister, v4000, (void* ptr), (ptr)) {
    return checked(cuMemHostUnregister(ptr));
}

API(cudaHostGetDevicePointer, v3020, (void** pDevice, void* pHost, unsigned int flags),
    (pDevice, pHost, flags)) {
    return checked(cuMemHostGetDevicePointer(device(pDevice), pHost, flags));
}

API(cudaHostGetFlags, v3020, (unsigned int* pFlags, void* pHost), (pFlags, pHost)) {
    return checked(cuMemHostGetFlags(pFlags, pHost));
}

API(cudaMemGetInfo, v3020, (size_t * free, size_t* total), (free, total)) {
    return checked(cuMemGetInfo(free, total));
}

API(cudaPointerGetAttributes, v4000, (cudaPointerAttributes * attributes, const void* ptr),
    (attributes, ptr)) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    unsigned int type = 0;
    unsigned int managed = 0;
    int ordinal = cudaInvalidDeviceId;
    void* on_device = nullptr;
    void* on_host = nullptr;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void* values[] = {&type, &managed, &ordinal, &on_device, &on_host};
    const CUresult result = cuPointerGetAttributes(5, names, values, device(ptr));
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE) return checked(result);
    *attributes = {};
    if (result != CUDA_SUCCESS || type == 0) {
        // Ordinary host memory: known to nobody, and no error since CUDA 11.
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = const_cast<void*>(ptr);
        return cudaSuccess;
    }
    attributes->type = managed                        ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                                      : cudaMemoryTypeHost;
    attributes->device = ordinal;
    attributes->devicePointer = on_device;
    attributes->hostPointer = on_host;
    return cudaSuccess;
}
