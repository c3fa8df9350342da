// cuMemcpy* between linear memory. CUDA arrays are not emulated.
#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/copy.h"
#include "collectors/virtual_gpu/core/copy_parameters.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

CUresult issue_copy(CopyRequest copy, Side to, Side from, CUstream handle, bool asynchronous,
                    const CUDA_MEMCPY3D* parameters = nullptr) {
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (CUresult error = check_copy(copy, to, from); error != CUDA_SUCCESS) return error;
    copy.asynchronous = asynchronous;
    if (!asynchronous) {
        if (CUresult error = refuse_while_capturing(*stream); error != CUDA_SUCCESS) return error;
    } else if (stream->capture.load(std::memory_order_acquire) != nullptr) {
        return add_captured(*stream,
                            CopyNode{copy, parameters != nullptr ? *parameters : linear_parameters(copy)});
    } else if (CUresult error = refuse_implicit_capture(*stream); error != CUDA_SUCCESS) {
        return error;
    }
    perform_copy(copy, Issue{stream->context, stream, current_correlation(), 0, 0});
    return CUDA_SUCCESS;
}

CUresult linear(uintptr_t destination, Side to, uintptr_t source, Side from, size_t bytes, CUstream stream,
                bool asynchronous) {
    CopyRequest copy;
    copy.destination = destination;
    copy.source = source;
    copy.width = bytes;
    return issue_copy(copy, to, from, stream, asynchronous);
}
uintptr_t address(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
}

CUresult issue_3d(const CUDA_MEMCPY3D* parameters, CUstream stream, bool asynchronous) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CopyRequest copy;
    Side to, from;
    if (CUresult error = read_copy_parameters(*parameters, copy, to, from); error != CUDA_SUCCESS)
        return error;
    return issue_copy(copy, to, from, stream, asynchronous, parameters);
}

CUresult issue_2d(const CUDA_MEMCPY2D* p, CUstream stream, bool asynchronous) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D wide{};
    wide.srcXInBytes = p->srcXInBytes;
    wide.srcY = p->srcY;
    wide.srcMemoryType = p->srcMemoryType;
    wide.srcHost = p->srcHost;
    wide.srcDevice = p->srcDevice;
    wide.srcArray = p->srcArray;
    wide.srcPitch = p->srcPitch;
    wide.dstXInBytes = p->dstXInBytes;
    wide.dstY = p->dstY;
    wide.dstMemoryType = p->dstMemoryType;
    wide.dstHost = p->dstHost;
    wide.dstDevice = p->dstDevice;
    wide.dstArray = p->dstArray;
    wide.dstPitch = p->dstPitch;
    wide.WidthInBytes = p->WidthInBytes;
    wide.Height = p->Height;
    wide.Depth = 1;
    return issue_3d(&wide, stream, asynchronous);
}

CUresult issue_peer(const CUDA_MEMCPY3D_PEER* p, CUstream stream, bool asynchronous) {
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (find_context(p->srcContext) == nullptr || find_context(p->dstContext) == nullptr)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUDA_MEMCPY3D plain{};
    plain.srcXInBytes = p->srcXInBytes;
    plain.srcY = p->srcY;
    plain.srcZ = p->srcZ;
    plain.srcMemoryType = p->srcMemoryType;
    plain.srcHost = p->srcHost;
    plain.srcDevice = p->srcDevice;
    plain.srcArray = p->srcArray;
    plain.srcPitch = p->srcPitch;
    plain.srcHeight = p->srcHeight;
    plain.dstXInBytes = p->dstXInBytes;
    plain.dstY = p->dstY;
    plain.dstZ = p->dstZ;
    plain.dstMemoryType = p->dstMemoryType;
    plain.dstHost = p->dstHost;
    plain.dstDevice = p->dstDevice;
    plain.dstArray = p->dstArray;
    plain.dstPitch = p->dstPitch;
    plain.dstHeight = p->dstHeight;
    plain.WidthInBytes = p->WidthInBytes;
    plain.Height = p->Height;
    plain.Depth = p->Depth;
    return issue_3d(&plain, stream, asynchronous);
}

}  // namespace

namespace driver {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return linear(to, Side::any, from, Side::any, bytes, nullptr, false);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return linear(to, Side::any, from, Side::any, bytes, stream, true);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
    return linear(to, Side::device, address(from), Side::host, bytes, nullptr, false);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    return linear(to, Side::device, address(from), Side::host, bytes, stream, true);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
    return linear(address(to), Side::host, from, Side::device, bytes, nullptr, false);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return linear(address(to), Side::host, from, Side::device, bytes, stream, true);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return linear(to, Side::device, from, Side::device, bytes, nullptr, false);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return linear(to, Side::device, from, Side::device, bytes, stream, true);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                      size_t bytes) {
    if (find_context(to_context) == nullptr || find_context(from_context) == nullptr)
        return CUDA_ERROR_INVALID_CONTEXT;
    return linear(to, Side::device, from, Side::device, bytes, nullptr, false);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           size_t bytes, CUstream stream) {
    if (find_context(to_context) == nullptr || find_context(from_context) == nullptr)
        return CUDA_ERROR_INVALID_CONTEXT;
    return linear(to, Side::device, from, Side::device, bytes, stream, true);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* p) {
    return issue_2d(p, nullptr, false);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* p) {
    return issue_2d(p, nullptr, false);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* p, CUstream stream) {
    return issue_2d(p, stream, true);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* p) {
    return issue_3d(p, nullptr, false);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* p, CUstream stream) {
    return issue_3d(p, stream, true);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p) {
    return issue_peer(p, nullptr, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream stream) {
    return issue_peer(p, stream, true);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* indices, size_t attribute_count,
                               CUstream stream) {
    if (count == 0 || to == nullptr || from == nullptr || sizes == nullptr || attributes == nullptr ||
        indices == nullptr || attribute_count == 0 || attribute_count > count || stream == nullptr ||
        stream == CU_STREAM_LEGACY)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (CUresult error = linear(to[i], Side::any, from[i], Side::any, sizes[i], stream, true);
            error != CUDA_SUCCESS)
            return error;
    return CUDA_SUCCESS;
}
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* indices, size_t attribute_count,
                            size_t* failed, CUstream stream) {
    CUresult result =
        driver::cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, attribute_count, stream);
    if (result != CUDA_SUCCESS && failed != nullptr)
        *failed = SIZE_MAX;  // as documented where the index is not known
    return result;
}

}  // namespace driver
}  // namespace attnscope::vgpu
