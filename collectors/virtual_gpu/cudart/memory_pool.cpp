// Stream-ordered allocation and its pools.
#include "api.h"

using namespace attnscope::vgpu::cudart;

API_WITH_STREAM(cudaMallocAsync, v11020, ptsz, v11020, (void** devPtr, size_t size, cudaStream_t hStream),
                (devPtr, size, hStream)) {
    if (devPtr == nullptr) return cudaErrorInvalidValue;
    *devPtr = nullptr;
    return size == 0 ? cudaSuccess : checked(cuMemAllocAsync(device(devPtr), size, driver_stream(hStream)));
}

API_WITH_STREAM(cudaFreeAsync, v11020, ptsz, v11020, (void* devPtr, cudaStream_t hStream),
                (devPtr, hStream)) {
    return devPtr == nullptr ? cudaSuccess : checked(cuMemFreeAsync(device(devPtr), driver_stream(hStream)));
}

API_WITH_STREAM(cudaMallocFromPoolAsync, v11020, ptsz, v11020,
                (void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
                (ptr, size, memPool, stream)) {
    if (ptr == nullptr) return cudaErrorInvalidValue;
    *ptr = nullptr;
    return size == 0 ? cudaSuccess
                     : checked(cuMemAllocFromPoolAsync(device(ptr), size, memPool, driver_stream(stream)));
}

API(cudaDeviceGetDefaultMemPool, v11020, (cudaMemPool_t * memPool, int device), (memPool, device)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceGetDefaultMemPool(memPool, device));
}

API(cudaDeviceSetMemPool, v11020, (int device, cudaMemPool_t memPool), (device, memPool)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceSetMemPool(device, memPool));
}

API(cudaDeviceGetMemPool, v11020, (cudaMemPool_t * memPool, int device), (memPool, device)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceGetMemPool(memPool, device));
}

API(cudaMemPoolTrimTo, v11020, (cudaMemPool_t memPool, size_t minBytesToKeep), (memPool, minBytesToKeep)) {
    return checked(cuMemPoolTrimTo(memPool, minBytesToKeep));
}

API(cudaMemPoolSetAttribute, v11020, (cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value),
    (memPool, attr, value)) {
    return checked(cuMemPoolSetAttribute(memPool, enumerator<CUmemPool_attribute>(attr), value));
}

API(cudaMemPoolGetAttribute, v11020, (cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value),
    (memPool, attr, value)) {
    return checked(cuMemPoolGetAttribute(memPool, enumerator<CUmemPool_attribute>(attr), value));
}

API(cudaMemPoolSetAccess, v11020, (cudaMemPool_t memPool, const cudaMemAccessDesc* descList, size_t count),
    (memPool, descList, count)) {
    return checked(cuMemPoolSetAccess(memPool, alike<const CUmemAccessDesc>(descList), count));
}

API(cudaMemPoolGetAccess, v11020,
    (cudaMemAccessFlags * flags, cudaMemPool_t memPool, cudaMemLocation* location),
    (flags, memPool, location)) {
    return checked(
        cuMemPoolGetAccess(alike<CUmemAccess_flags>(flags), memPool, alike<CUmemLocation>(location)));
}

API(cudaMemPoolCreate, v11020, (cudaMemPool_t * memPool, const cudaMemPoolProps* poolProps),
    (memPool, poolProps)) {
    return checked(cuMemPoolCreate(memPool, alike<const CUmemPoolProps>(poolProps)));
}

API(cudaMemPoolDestroy, v11020, (cudaMemPool_t memPool), (memPool)) {
    return checked(cuMemPoolDestroy(memPool));
}

API(cudaMemGetDefaultMemPool, v13000,
    (cudaMemPool_t * memPool, cudaMemLocation* location, cudaMemAllocationType type),
    (memPool, location, type)) {
    return checked(cuMemGetDefaultMemPool(memPool, alike<CUmemLocation>(location),
                                          enumerator<CUmemAllocationType>(type)));
}

API(cudaMemGetMemPool, v13000,
    (cudaMemPool_t * memPool, cudaMemLocation* location, cudaMemAllocationType type),
    (memPool, location, type)) {
    return checked(
        cuMemGetMemPool(memPool, alike<CUmemLocation>(location), enumerator<CUmemAllocationType>(type)));
}

API(cudaMemSetMemPool, v13000,
    (cudaMemLocation * location, cudaMemAllocationType type, cudaMemPool_t memPool),
    (location, type, memPool)) {
    return checked(
        cuMemSetMemPool(alike<CUmemLocation>(location), enumerator<CUmemAllocationType>(type), memPool));
}

API(cudaDeviceGraphMemTrim, v11040, (int device), (device)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceGraphMemTrim(device));
}

API(cudaDeviceGetGraphMemAttribute, v11040, (int device, cudaGraphMemAttributeType attr, void* value),
    (device, attr, value)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceGetGraphMemAttribute(device, enumerator<CUgraphMem_attribute>(attr), value));
}

API(cudaDeviceSetGraphMemAttribute, v11040, (int device, cudaGraphMemAttributeType attr, void* value),
    (device, attr, value)) {
    if (const cudaError_t error = check_device(device)) return error;
    return checked(cuDeviceSetGraphMemAttribute(device, enumerator<CUgraphMem_attribute>(attr), value));
}
