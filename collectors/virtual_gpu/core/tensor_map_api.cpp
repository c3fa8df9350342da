// cuTensorMapEncode*: descriptors of tensors for the copy engine of compute capability 9.0. How NVIDIA lays
// the 128 bytes out is not published and nothing here reads them: ours hold the tensor's address, so that a
// kernel that gets one is seen to reach that memory.
#include <cstring>

#include "collectors/virtual_gpu/core/context.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {

// The documented limits (cuda.h, cuTensorMapEncodeTiled).
CUresult encode(CUtensorMap* out, unsigned rank, void* address, const cuuint64_t* sizes,
                const cuuint64_t* strides, const cuuint32_t* element_strides) {
    if (out == nullptr || address == nullptr || sizes == nullptr || element_strides == nullptr || rank == 0 ||
        rank > 5)
        return CUDA_ERROR_INVALID_VALUE;
    if (reinterpret_cast<uintptr_t>(address) % 16 != 0 || reinterpret_cast<uintptr_t>(out) % 64 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (rank > 1 && strides == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < rank; i++) {
        if (sizes[i] == 0 || sizes[i] > (cuuint64_t{1} << 32) || element_strides[i] == 0 ||
            element_strides[i] > 8)
            return CUDA_ERROR_INVALID_VALUE;
        if (i + 1 < rank && (strides[i] % 16 != 0 || strides[i] >= (cuuint64_t{1} << 40)))
            return CUDA_ERROR_INVALID_VALUE;
    }
    Context* context = nullptr;
    if (CUresult error = current_context(context); error != CUDA_SUCCESS) return error;
    if (context->device->gpu.major < 9) return CUDA_ERROR_NOT_SUPPORTED;
    *out = {};
    std::memcpy(out, &address, sizeof address);
    return CUDA_SUCCESS;
}

}  // namespace

namespace driver {

CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    if (box == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (cuuint32_t i = 0; i < rank && i < 5; i++)
        if (box[i] == 0 || box[i] > 256) return CUDA_ERROR_INVALID_VALUE;
    return encode(out, rank, address, sizes, strides, element_strides);
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType, cuuint32_t rank, void* address,
                                 const cuuint64_t* sizes, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
    if (lower == nullptr || upper == nullptr || rank < 3 || channels > 256 || pixels > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    return encode(out, rank, address, sizes, strides, element_strides);
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
    if (map == nullptr || address == nullptr || reinterpret_cast<uintptr_t>(address) % 16 != 0)
        return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(map, &address, sizeof address);
    return CUDA_SUCCESS;
}

}  // namespace driver
}  // namespace attnscope::vgpu
