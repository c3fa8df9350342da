#include "collectors/virtual_gpu/core/copy_parameters.h"

#include "collectors/virtual_gpu/core/api.h"

namespace attnscope::vgpu {

namespace {
CUresult read_side(CUmemorytype type, const void* host, CUdeviceptr device, uintptr_t& base, Side& side) {
    switch (type) {
        case CU_MEMORYTYPE_HOST:
            base = reinterpret_cast<uintptr_t>(host);
            side = Side::host;
            return CUDA_SUCCESS;
        case CU_MEMORYTYPE_DEVICE:
            base = device;
            side = Side::device;
            return CUDA_SUCCESS;
        case CU_MEMORYTYPE_UNIFIED:
            base = device;
            side = Side::any;
            return CUDA_SUCCESS;
        case CU_MEMORYTYPE_ARRAY:
            report_unsupported("CUDA driver", "copy with a CUDA array");
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}
}  // namespace

CUresult read_copy_parameters(const CUDA_MEMCPY3D& p, CopyRequest& copy, Side& to, Side& from) {
    if (p.srcLOD != 0 || p.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = read_side(p.srcMemoryType, p.srcHost, p.srcDevice, copy.source, from);
        error != CUDA_SUCCESS)
        return error;
    if (CUresult error = read_side(p.dstMemoryType, p.dstHost, p.dstDevice, copy.destination, to);
        error != CUDA_SUCCESS)
        return error;
    copy.width = p.WidthInBytes;
    copy.height = p.Height;
    copy.depth = p.Depth;
    // A pitch of 0 is a row without padding; a height of 0 is the copy's own.
    copy.source_pitch = p.srcPitch != 0 ? p.srcPitch : p.srcXInBytes + p.WidthInBytes;
    copy.destination_pitch = p.dstPitch != 0 ? p.dstPitch : p.dstXInBytes + p.WidthInBytes;
    const bool rows = p.Height > 1 || p.Depth > 1;
    if (rows && (copy.source_pitch < p.srcXInBytes + p.WidthInBytes ||
                 copy.destination_pitch < p.dstXInBytes + p.WidthInBytes))
        return CUDA_ERROR_INVALID_VALUE;
    copy.source_slice = copy.source_pitch * (p.srcHeight != 0 ? p.srcHeight : p.srcY + p.Height);
    copy.destination_slice = copy.destination_pitch * (p.dstHeight != 0 ? p.dstHeight : p.dstY + p.Height);
    copy.source += p.srcZ * copy.source_slice + p.srcY * copy.source_pitch + p.srcXInBytes;
    copy.destination += p.dstZ * copy.destination_slice + p.dstY * copy.destination_pitch + p.dstXInBytes;
    return CUDA_SUCCESS;
}

CUDA_MEMCPY3D linear_parameters(const CopyRequest& copy) {
    CUDA_MEMCPY3D p{};
    const bool to_host = !is_reserved_address(copy.destination),
               from_host = !is_reserved_address(copy.source);
    p.srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    p.dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    p.srcHost = from_host ? reinterpret_cast<const void*>(copy.source) : nullptr;
    p.dstHost = to_host ? reinterpret_cast<void*>(copy.destination) : nullptr;
    p.srcDevice = from_host ? 0 : copy.source;
    p.dstDevice = to_host ? 0 : copy.destination;
    p.srcPitch = copy.source_pitch;
    p.dstPitch = copy.destination_pitch;
    p.WidthInBytes = copy.width;
    p.Height = copy.height;
    p.Depth = copy.depth;
    return p;
}

}  // namespace attnscope::vgpu
