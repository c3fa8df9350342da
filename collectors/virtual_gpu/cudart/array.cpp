// CUDA arrays and the copies that name them. Textures and surfaces are not emulated.
#include "copies.h"

using namespace attnscope::vgpu::cudart;

static cudaError_t driver_format(const cudaChannelFormatDesc& description, CUarray_format* format,
                                 unsigned int* channels) {
    const int bits[] = {description.x, description.y, description.z, description.w};
    *channels = 0;
    while (*channels < 4 && bits[*channels] != 0) ++*channels;
    for (unsigned int i = 1; i < *channels; ++i) {
        if (bits[i] != bits[0]) return cudaErrorInvalidChannelDescriptor;
    }
    if (*channels == 0 || *channels == 3) return cudaErrorInvalidChannelDescriptor;
    switch (description.f) {
        case cudaChannelFormatKindUnsigned:
            *format = bits[0] == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
                      : bits[0] == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                                      : CU_AD_FORMAT_UNSIGNED_INT32;
            break;
        case cudaChannelFormatKindSigned:
            *format = bits[0] == 8    ? CU_AD_FORMAT_SIGNED_INT8
                      : bits[0] == 16 ? CU_AD_FORMAT_SIGNED_INT16
                                      : CU_AD_FORMAT_SIGNED_INT32;
            break;
        case cudaChannelFormatKindFloat:
            *format = bits[0] == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
            break;
        default:
            return cudaErrorNotSupported;
    }
    const bool whole = bits[0] == 8 || bits[0] == 16 || bits[0] == 32;
    const bool known = whole && !(description.f == cudaChannelFormatKindFloat && bits[0] == 8);
    return known ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

static cudaChannelFormatDesc runtime_format(CUarray_format format, unsigned int channels) {
    int bits = 32;
    cudaChannelFormatKind kind = cudaChannelFormatKindNone;
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
            bits = 8;
            kind = cudaChannelFormatKindUnsigned;
            break;
        case CU_AD_FORMAT_UNSIGNED_INT16:
            bits = 16;
            kind = cudaChannelFormatKindUnsigned;
            break;
        case CU_AD_FORMAT_UNSIGNED_INT32:
            kind = cudaChannelFormatKindUnsigned;
            break;
        case CU_AD_FORMAT_SIGNED_INT8:
            bits = 8;
            kind = cudaChannelFormatKindSigned;
            break;
        case CU_AD_FORMAT_SIGNED_INT16:
            bits = 16;
            kind = cudaChannelFormatKindSigned;
            break;
        case CU_AD_FORMAT_SIGNED_INT32:
            kind = cudaChannelFormatKindSigned;
            break;
        case CU_AD_FORMAT_HALF:
            bits = 16;
            kind = cudaChannelFormatKindFloat;
            break;
        default:
            kind = cudaChannelFormatKindFloat;
            break;
    }
    return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

CUDART_EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}

static cudaError_t create(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                          unsigned int flags) {
    if (array == nullptr || desc == nullptr) return cudaErrorInvalidValue;
    CUDA_ARRAY3D_DESCRIPTOR description{};
    if (const cudaError_t error = driver_format(*desc, &description.Format, &description.NumChannels))
        return error;
    description.Width = extent.width;
    description.Height = extent.height;
    description.Depth = extent.depth;
    description.Flags = flags;
    return checked(cuArray3DCreate(reinterpret_cast<CUarray*>(array), &description));
}

API(cudaMallocArray, v3020,
    (cudaArray_t * array, const cudaChannelFormatDesc* desc, size_t width, size_t height, unsigned int flags),
    (array, desc, width, height, flags)) {
    return create(array, desc, {width, height, 0}, flags);
}

API(cudaMalloc3DArray, v3020,
    (cudaArray_t * array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned int flags),
    (array, desc, extent, flags)) {
    return create(array, desc, extent, flags);
}

API(cudaFreeArray, v3020, (cudaArray_t array), (array)) {
    return array ? checked(cuArrayDestroy(driver_array(array))) : cudaSuccess;
}

API(cudaArrayGetInfo, v4010,
    (cudaChannelFormatDesc * desc, cudaExtent* extent, unsigned int* flags, cudaArray_t array),
    (desc, extent, flags, array)) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    if (const CUresult result = cuArray3DGetDescriptor(&description, driver_array(array)))
        return checked(result);
    if (desc) *desc = runtime_format(description.Format, description.NumChannels);
    if (extent) *extent = {description.Width, description.Height, description.Depth};
    if (flags) *flags = description.Flags;
    return cudaSuccess;
}

API(cudaGetChannelDesc, v3020, (cudaChannelFormatDesc * desc, cudaArray_const_t array), (desc, array)) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    if (desc == nullptr) return cudaErrorInvalidValue;
    if (const CUresult result = cuArray3DGetDescriptor(&description, driver_array(array)))
        return checked(result);
    *desc = runtime_format(description.Format, description.NumChannels);
    return cudaSuccess;
}

// The functions below give offsets and widths in bytes along x, as the driver does.
struct Side {
    const void* pointer = nullptr;
    size_t pitch = 0;
    cudaArray_const_t array = nullptr;
    size_t x = 0;
    size_t y = 0;
};

static cudaError_t copy_rows(const Side& to, const Side& from, size_t width, size_t height,
                             cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    MemoryTypes types{};
    if (const cudaError_t error = memory_types(kind, &types)) return error;
    if (width == 0 || height == 0) return cudaSuccess;
    CUDA_MEMCPY2D copy{};
    copy.srcXInBytes = from.x;
    copy.srcY = from.y;
    copy.srcMemoryType = from.array ? CU_MEMORYTYPE_ARRAY : types.source;
    copy.srcArray = driver_array(from.array);
    copy.srcHost = from.pointer;
    copy.srcDevice = device(from.pointer);
    copy.srcPitch = from.pitch;
    copy.dstXInBytes = to.x;
    copy.dstY = to.y;
    copy.dstMemoryType = to.array ? CU_MEMORYTYPE_ARRAY : types.destination;
    copy.dstArray = driver_array(to.array);
    copy.dstHost = const_cast<void*>(to.pointer);
    copy.dstDevice = device(to.pointer);
    copy.dstPitch = to.pitch;
    copy.WidthInBytes = width;
    copy.Height = height;
    if (!wait) return checked(cuMemcpy2DAsync(&copy, driver_stream(stream)));
    if (thread.per_thread_stream) return wait_for_own_stream(cuMemcpy2DAsync(&copy, CU_STREAM_PER_THREAD));
    return checked(cuMemcpy2D(&copy));
}

API_WITH_STREAM(cudaMemcpy2DToArray, v3020, ptds, v7000,
                (cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                 size_t width, size_t height, cudaMemcpyKind kind),
                (dst, wOffset, hOffset, src, spitch, width, height, kind)) {
    return copy_rows({nullptr, 0, dst, wOffset, hOffset}, {src, spitch}, width, height, kind, nullptr, true);
}

API_WITH_STREAM(cudaMemcpy2DToArrayAsync, v3020, ptsz, v7000,
                (cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                 size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                (dst, wOffset, hOffset, src, spitch, width, height, kind, stream)) {
    return copy_rows({nullptr, 0, dst, wOffset, hOffset}, {src, spitch}, width, height, kind, stream, false);
}

API_WITH_STREAM(cudaMemcpy2DFromArray, v3020, ptds, v7000,
                (void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                 size_t width, size_t height, cudaMemcpyKind kind),
                (dst, dpitch, src, wOffset, hOffset, width, height, kind)) {
    return copy_rows({dst, dpitch}, {nullptr, 0, src, wOffset, hOffset}, width, height, kind, nullptr, true);
}

API_WITH_STREAM(cudaMemcpy2DFromArrayAsync, v3020, ptsz, v7000,
                (void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                 size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                (dst, dpitch, src, wOffset, hOffset, width, height, kind, stream)) {
    return copy_rows({dst, dpitch}, {nullptr, 0, src, wOffset, hOffset}, width, height, kind, stream, false);
}

API_WITH_STREAM(cudaMemcpy2DArrayToArray, v3020, ptds, v7000,
                (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                 size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height, cudaMemcpyKind kind),
                (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind)) {
    return copy_rows({nullptr, 0, dst, wOffsetDst, hOffsetDst}, {nullptr, 0, src, wOffsetSrc, hOffsetSrc},
                     width, height, kind, nullptr, true);
}
