// Copies between pointers: linear, pitched, between devices, in batches.
#include "copies.h"

using namespace attnscope::vgpu::cudart;

API_WITH_STREAM(cudaMemcpy, v3020, ptds, v7000,
                (void* dst, const void* src, size_t count, cudaMemcpyKind kind), (dst, src, count, kind)) {
    return copy_now(dst, src, count, kind);
}

API_WITH_STREAM(cudaMemcpyAsync, v3020, ptsz, v7000,
                (void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream),
                (dst, src, count, kind, stream)) {
    return copy_later(dst, src, count, kind, stream);
}

static cudaError_t pitched_copy(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                size_t height, cudaMemcpyKind kind, CUDA_MEMCPY2D* copy) {
    MemoryTypes types{};
    if (const cudaError_t error = memory_types(kind, &types)) return error;
    if (height > 1 && (dpitch < width || spitch < width)) return cudaErrorInvalidPitchValue;
    *copy = {};
    copy->srcMemoryType = types.source;
    copy->srcHost = src;
    copy->srcDevice = device(src);
    copy->srcPitch = spitch;
    copy->dstMemoryType = types.destination;
    copy->dstHost = dst;
    copy->dstDevice = device(dst);
    copy->dstPitch = dpitch;
    copy->WidthInBytes = width;
    copy->Height = height;
    return cudaSuccess;
}

API_WITH_STREAM(cudaMemcpy2D, v3020, ptds, v7000,
                (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                 cudaMemcpyKind kind),
                (dst, dpitch, src, spitch, width, height, kind)) {
    CUDA_MEMCPY2D copy;
    if (const cudaError_t error = pitched_copy(dst, dpitch, src, spitch, width, height, kind, &copy))
        return error;
    if (width == 0 || height == 0) return cudaSuccess;
    if (thread.per_thread_stream) return wait_for_own_stream(cuMemcpy2DAsync(&copy, CU_STREAM_PER_THREAD));
    return checked(cuMemcpy2D(&copy));
}

API_WITH_STREAM(cudaMemcpy2DAsync, v3020, ptsz, v7000,
                (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                 cudaMemcpyKind kind, cudaStream_t stream),
                (dst, dpitch, src, spitch, width, height, kind, stream)) {
    CUDA_MEMCPY2D copy;
    if (const cudaError_t error = pitched_copy(dst, dpitch, src, spitch, width, height, kind, &copy))
        return error;
    return width == 0 || height == 0 ? cudaSuccess : checked(cuMemcpy2DAsync(&copy, driver_stream(stream)));
}

static bool nothing(cudaExtent extent) {
    return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

API_WITH_STREAM(cudaMemcpy3D, v3020, ptds, v7000, (const cudaMemcpy3DParms* p), (p)) {
    if (p == nullptr) return cudaErrorInvalidValue;
    if (nothing(p->extent)) return cudaSuccess;
    CUDA_MEMCPY3D copy;
    if (const cudaError_t error = driver_copy(*p, &copy)) return error;
    if (thread.per_thread_stream) return wait_for_own_stream(cuMemcpy3DAsync(&copy, CU_STREAM_PER_THREAD));
    return checked(cuMemcpy3D(&copy));
}

API_WITH_STREAM(cudaMemcpy3DAsync, v3020, ptsz, v7000, (const cudaMemcpy3DParms* p, cudaStream_t stream),
                (p, stream)) {
    if (p == nullptr) return cudaErrorInvalidValue;
    if (nothing(p->extent)) return cudaSuccess;
    CUDA_MEMCPY3D copy;
    if (const cudaError_t error = driver_copy(*p, &copy)) return error;
    return checked(cuMemcpy3DAsync(&copy, driver_stream(stream)));
}

static cudaError_t peer_contexts(int dstDevice, CUcontext* destination, int srcDevice, CUcontext* source) {
    if (const cudaError_t error = primary_context(dstDevice, destination)) return error;
    return primary_context(srcDevice, source);
}

API(cudaMemcpyPeer, v4000, (void* dst, int dstDevice, const void* src, int srcDevice, size_t count),
    (dst, dstDevice, src, srcDevice, count)) {
    CUcontext destination = nullptr;
    CUcontext source = nullptr;
    if (const cudaError_t error = peer_contexts(dstDevice, &destination, srcDevice, &source)) return error;
    return count == 0 ? cudaSuccess
                      : checked(cuMemcpyPeer(device(dst), destination, device(src), source, count));
}

API(cudaMemcpyPeerAsync, v4000,
    (void* dst, int dstDevice, const void* src, int srcDevice, size_t count, cudaStream_t stream),
    (dst, dstDevice, src, srcDevice, count, stream)) {
    CUcontext destination = nullptr;
    CUcontext source = nullptr;
    if (const cudaError_t error = peer_contexts(dstDevice, &destination, srcDevice, &source)) return error;
    return count == 0 ? cudaSuccess
                      : checked(cuMemcpyPeerAsync(device(dst), destination, device(src), source, count,
                                                  driver_stream(stream)));
}

static cudaError_t peer_copy(const cudaMemcpy3DPeerParms& p, CUDA_MEMCPY3D_PEER* copy) {
    CUDA_MEMCPY3D plain;
    cudaMemcpy3DParms same{p.srcArray, p.srcPos, p.srcPtr, p.dstArray,
                           p.dstPos,   p.dstPtr, p.extent, cudaMemcpyDefault};
    if (const cudaError_t error = driver_copy(same, &plain)) return error;
    *copy = {};
    if (const cudaError_t error =
            peer_contexts(p.dstDevice, &copy->dstContext, p.srcDevice, &copy->srcContext))
        return error;
    copy->srcXInBytes = plain.srcXInBytes;
    copy->srcY = plain.srcY;
    copy->srcZ = plain.srcZ;
    copy->srcMemoryType = plain.srcMemoryType;
    copy->srcHost = plain.srcHost;
    copy->srcDevice = plain.srcDevice;
    copy->srcArray = plain.srcArray;
    copy->srcPitch = plain.srcPitch;
    copy->srcHeight = plain.srcHeight;
    copy->dstXInBytes = plain.dstXInBytes;
    copy->dstY = plain.dstY;
    copy->dstZ = plain.dstZ;
    copy->dstMemoryType = plain.dstMemoryType;
    copy->dstHost = plain.dstHost;
    copy->dstDevice = plain.dstDevice;
    copy->dstArray = plain.dstArray;
    copy->dstPitch = plain.dstPitch;
    copy->dstHeight = plain.dstHeight;
    copy->WidthInBytes = plain.WidthInBytes;
    copy->Height = plain.Height;
    copy->Depth = plain.Depth;
    return cudaSuccess;
}

API_WITH_STREAM(cudaMemcpy3DPeer, v4000, ptds, v7000, (const cudaMemcpy3DPeerParms* p), (p)) {
    if (p == nullptr) return cudaErrorInvalidValue;
    CUDA_MEMCPY3D_PEER copy;
    if (const cudaError_t error = peer_copy(*p, &copy)) return error;
    if (thread.per_thread_stream)
        return wait_for_own_stream(cuMemcpy3DPeerAsync(&copy, CU_STREAM_PER_THREAD));
    return checked(cuMemcpy3DPeer(&copy));
}

API_WITH_STREAM(cudaMemcpy3DPeerAsync, v4000, ptsz, v7000,
                (const cudaMemcpy3DPeerParms* p, cudaStream_t stream), (p, stream)) {
    if (p == nullptr) return cudaErrorInvalidValue;
    CUDA_MEMCPY3D_PEER copy;
    if (const cudaError_t error = peer_copy(*p, &copy)) return error;
    return checked(cuMemcpy3DPeerAsync(&copy, driver_stream(stream)));
}

API_WITH_STREAM(cudaMemcpyBatchAsync, v13000, ptsz, v13000,
                (void* const* dsts, const void* const* srcs, const size_t* sizes, size_t count,
                 cudaMemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, cudaStream_t stream),
                (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream)) {
    return checked(cuMemcpyBatchAsync(device(const_cast<void**>(dsts)), device(const_cast<void**>(srcs)),
                                      const_cast<size_t*>(sizes), count, alike<CUmemcpyAttributes>(attrs),
                                      attrsIdxs, numAttrs, driver_stream(stream)));
}

API_WITH_STREAM(cudaMemcpy3DBatchAsync, v13000, ptsz, v13000,
                (size_t numOps, cudaMemcpy3DBatchOp* opList, unsigned long long flags, cudaStream_t stream),
                (numOps, opList, flags, stream)) {
    return checked(
        cuMemcpy3DBatchAsync(numOps, alike<CUDA_MEMCPY3D_BATCH_OP>(opList), flags, driver_stream(stream)));
}
