#include "copies.h"

namespace attnscope::vgpu::cudart {

cudaError_t memory_types(cudaMemcpyKind kind, MemoryTypes* types) {
    switch (kind) {
        case cudaMemcpyHostToHost:
            *types = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST};
            return cudaSuccess;
        case cudaMemcpyHostToDevice:
            *types = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE};
            return cudaSuccess;
        case cudaMemcpyDeviceToHost:
            *types = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
            return cudaSuccess;
        case cudaMemcpyDeviceToDevice:
            *types = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE};
            return cudaSuccess;
        case cudaMemcpyDefault:
            *types = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
            return cudaSuccess;
        default:
            return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t element_bytes(cudaArray_const_t array, size_t* bytes) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    if (const CUresult result = cuArray3DGetDescriptor(&description, driver_array(array)))
        return checked(result);
    switch (description.Format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            *bytes = 1;
            break;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            *bytes = 2;
            break;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT:
            *bytes = 4;
            break;
        default:
            return cudaErrorNotSupported;
    }
    *bytes *= description.NumChannels;
    return cudaSuccess;
}

cudaError_t driver_copy(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D* copy) {
    MemoryTypes types{};
    if (const cudaError_t error = memory_types(p.kind, &types)) return error;
    if ((p.srcArray == nullptr) == (p.srcPtr.ptr == nullptr)) return cudaErrorInvalidValue;
    if ((p.dstArray == nullptr) == (p.dstPtr.ptr == nullptr)) return cudaErrorInvalidValue;
    size_t source_element = 1;
    size_t destination_element = 1;
    size_t width_element = 1;
    if (p.srcArray) {
        if (const cudaError_t error = element_bytes(p.srcArray, &source_element)) return error;
        width_element = source_element;
    }
    if (p.dstArray) {
        if (const cudaError_t error = element_bytes(p.dstArray, &destination_element)) return error;
        width_element = destination_element;
    }
    *copy = {};
    copy->srcXInBytes = p.srcPos.x * source_element;
    copy->srcY = p.srcPos.y;
    copy->srcZ = p.srcPos.z;
    copy->dstXInBytes = p.dstPos.x * destination_element;
    copy->dstY = p.dstPos.y;
    copy->dstZ = p.dstPos.z;
    copy->WidthInBytes = p.extent.width * width_element;
    copy->Height = p.extent.height;
    copy->Depth = p.extent.depth;
    if (p.srcArray) {
        copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->srcArray = driver_array(p.srcArray);
    } else {
        copy->srcMemoryType = types.source;
        copy->srcHost = p.srcPtr.ptr;
        copy->srcDevice = device(p.srcPtr.ptr);
        copy->srcPitch = p.srcPtr.pitch;
        copy->srcHeight = p.srcPtr.ysize;
    }
    if (p.dstArray) {
        copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->dstArray = driver_array(p.dstArray);
    } else {
        copy->dstMemoryType = types.destination;
        copy->dstHost = p.dstPtr.ptr;
        copy->dstDevice = device(p.dstPtr.ptr);
        copy->dstPitch = p.dstPtr.pitch;
        copy->dstHeight = p.dstPtr.ysize;
    }
    return cudaSuccess;
}

namespace {

bool on_host(CUmemorytype type) {
    return type == CU_MEMORYTYPE_HOST;
}
bool on_device(CUmemorytype type) {
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY;
}

cudaMemcpyKind kind_of(CUmemorytype source, CUmemorytype destination) {
    if (on_host(source) && on_host(destination)) return cudaMemcpyHostToHost;
    if (on_host(source) && on_device(destination)) return cudaMemcpyHostToDevice;
    if (on_device(source) && on_host(destination)) return cudaMemcpyDeviceToHost;
    if (on_device(source) && on_device(destination)) return cudaMemcpyDeviceToDevice;
    return cudaMemcpyDefault;
}

}  // namespace

cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* p) {
    *p = {};
    size_t source_element = 1;
    size_t destination_element = 1;
    size_t width_element = 1;
    if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
        p->srcArray = reinterpret_cast<cudaArray_t>(copy.srcArray);
        if (const cudaError_t error = element_bytes(p->srcArray, &source_element)) return error;
        width_element = source_element;
    } else {
        void* const pointer = on_host(copy.srcMemoryType) ? const_cast<void*>(copy.srcHost)
                                                          : reinterpret_cast<void*>(copy.srcDevice);
        p->srcPtr = {pointer, copy.srcPitch, copy.WidthInBytes, copy.srcHeight};
    }
    if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
        p->dstArray = reinterpret_cast<cudaArray_t>(copy.dstArray);
        if (const cudaError_t error = element_bytes(p->dstArray, &destination_element)) return error;
        width_element = destination_element;
    } else {
        void* const pointer =
            on_host(copy.dstMemoryType) ? copy.dstHost : reinterpret_cast<void*>(copy.dstDevice);
        p->dstPtr = {pointer, copy.dstPitch, copy.WidthInBytes, copy.dstHeight};
    }
    p->srcPos = {copy.srcXInBytes / source_element, copy.srcY, copy.srcZ};
    p->dstPos = {copy.dstXInBytes / destination_element, copy.dstY, copy.dstZ};
    p->extent = {copy.WidthInBytes / width_element, copy.Height, copy.Depth};
    p->kind = kind_of(copy.srcMemoryType, copy.dstMemoryType);
    return cudaSuccess;
}

cudaMemcpy3DParms linear_copy(void* destination, const void* source, size_t count, cudaMemcpyKind kind) {
    cudaMemcpy3DParms p{};
    p.srcPtr = {const_cast<void*>(source), count, count, 1};
    p.dstPtr = {destination, count, count, 1};
    p.extent = {count, 1, 1};
    p.kind = kind;
    return p;
}

cudaError_t wait_for_own_stream(CUresult issued) {
    return checked(issued != CUDA_SUCCESS ? issued : cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

cudaError_t copy_now(void* destination, const void* source, size_t count, cudaMemcpyKind kind) {
    if (thread.per_thread_stream) {
        const cudaError_t error = copy_later(destination, source, count, kind, nullptr);
        return error ? error : wait_for_own_stream(CUDA_SUCCESS);
    }
    MemoryTypes types{};
    if (const cudaError_t error = memory_types(kind, &types)) return error;
    if (count == 0) return cudaSuccess;
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return checked(cuMemcpyHtoD(device(destination), source, count));
        case cudaMemcpyDeviceToHost:
            return checked(cuMemcpyDtoH(destination, device(source), count));
        case cudaMemcpyDeviceToDevice:
            return checked(cuMemcpyDtoD(device(destination), device(source), count));
        default:
            return checked(cuMemcpy(device(destination), device(source), count));
    }
}

cudaError_t copy_later(void* destination, const void* source, size_t count, cudaMemcpyKind kind,
                       cudaStream_t stream) {
    MemoryTypes types{};
    if (const cudaError_t error = memory_types(kind, &types)) return error;
    if (count == 0) return cudaSuccess;
    const CUstream on = driver_stream(stream);
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return checked(cuMemcpyHtoDAsync(device(destination), source, count, on));
        case cudaMemcpyDeviceToHost:
            return checked(cuMemcpyDtoHAsync(destination, device(source), count, on));
        case cudaMemcpyDeviceToDevice:
            return checked(cuMemcpyDtoDAsync(device(destination), device(source), count, on));
        default:
            return checked(cuMemcpyAsync(device(destination), device(source), count, on));
    }
}

}  // namespace attnscope::vgpu::cudart
