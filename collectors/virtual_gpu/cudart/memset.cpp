#include "copies.h"

using namespace attnscope::vgpu::cudart;

static unsigned char byte(int value) {
    return static_cast<unsigned char>(value);
}

/// Slices that lie closely one after the other are one piece.
static CUresult set_slices(const cudaPitchedPtr& p, int value, const cudaExtent& extent, CUstream stream,
                           bool wait) {
    const auto set = [&](CUdeviceptr at, size_t rows) {
        return wait ? cuMemsetD2D8(at, p.pitch, byte(value), extent.width, rows)
                    : cuMemsetD2D8Async(at, p.pitch, byte(value), extent.width, rows, stream);
    };
    if (p.ysize == extent.height || extent.depth == 1)
        return set(device(p.ptr), extent.height * extent.depth);
    for (size_t slice = 0; slice < extent.depth; ++slice) {
        if (const CUresult result = set(device(p.ptr) + slice * p.pitch * p.ysize, extent.height))
            return result;
    }
    return CUDA_SUCCESS;
}

API_WITH_STREAM(cudaMemset, v3020, ptds, v7000, (void* devPtr, int value, size_t count),
                (devPtr, value, count)) {
    if (count == 0) return cudaSuccess;
    if (thread.per_thread_stream)
        return checked(cuMemsetD8Async(device(devPtr), byte(value), count, CU_STREAM_PER_THREAD));
    return checked(cuMemsetD8(device(devPtr), byte(value), count));
}

API_WITH_STREAM(cudaMemsetAsync, v3020, ptsz, v7000,
                (void* devPtr, int value, size_t count, cudaStream_t stream),
                (devPtr, value, count, stream)) {
    return count == 0 ? cudaSuccess
                      : checked(cuMemsetD8Async(device(devPtr), byte(value), count, driver_stream(stream)));
}

API_WITH_STREAM(cudaMemset2D, v3020, ptds, v7000,
                (void* devPtr, size_t pitch, int value, size_t width, size_t height),
                (devPtr, pitch, value, width, height)) {
    if (width == 0 || height == 0) return cudaSuccess;
    if (thread.per_thread_stream) {
        return checked(
            cuMemsetD2D8Async(device(devPtr), pitch, byte(value), width, height, CU_STREAM_PER_THREAD));
    }
    return checked(cuMemsetD2D8(device(devPtr), pitch, byte(value), width, height));
}

API_WITH_STREAM(cudaMemset2DAsync, v3020, ptsz, v7000,
                (void* devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
                (devPtr, pitch, value, width, height, stream)) {
    if (width == 0 || height == 0) return cudaSuccess;
    return checked(
        cuMemsetD2D8Async(device(devPtr), pitch, byte(value), width, height, driver_stream(stream)));
}

API_WITH_STREAM(cudaMemset3D, v3020, ptds, v7000,
                (cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent),
                (pitchedDevPtr, value, extent)) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    return checked(set_slices(pitchedDevPtr, value, extent, CU_STREAM_PER_THREAD, !thread.per_thread_stream));
}

API_WITH_STREAM(cudaMemset3DAsync, v3020, ptsz, v7000,
                (cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent, cudaStream_t stream),
                (pitchedDevPtr, value, extent, stream)) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    return checked(set_slices(pitchedDevPtr, value, extent, driver_stream(stream), false));
}
