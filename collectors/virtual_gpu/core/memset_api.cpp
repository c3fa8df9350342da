// cuMemset*.
#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/copy.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "driver_functions.h"

namespace attnscope::vgpu {

namespace {
CUresult issue_set(CUdeviceptr to, uint32_t value, uint8_t value_bytes, size_t width, size_t height,
                   size_t pitch, CUstream handle, bool asynchronous) {
    const SetRequest set{to, value, value_bytes, width, height, pitch, asynchronous};
    Stream* stream = nullptr;
    if (CUresult error = find_stream(handle, stream); error != CUDA_SUCCESS) return error;
    if (CUresult error = check_set(set); error != CUDA_SUCCESS) return error;
    if (!asynchronous) {
        if (CUresult error = refuse_while_capturing(*stream); error != CUDA_SUCCESS) return error;
    } else if (stream->capture.load(std::memory_order_acquire) != nullptr) {
        return add_captured(*stream, SetNode{set});
    } else if (CUresult error = refuse_implicit_capture(*stream); error != CUDA_SUCCESS) {
        return error;
    }
    perform_set(set, Issue{stream->context, stream, current_correlation(), 0, 0});
    return CUDA_SUCCESS;
}
}  // namespace

namespace driver {

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n) {
    return issue_set(to, value, 1, n, 1, 0, nullptr, false);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t n) {
    return issue_set(to, value, 2, n, 1, 0, nullptr, false);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t n) {
    return issue_set(to, value, 4, n, 1, 0, nullptr, false);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) {
    return issue_set(to, value, 1, n, 1, 0, stream, true);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream) {
    return issue_set(to, value, 2, n, 1, 0, stream, true);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream) {
    return issue_set(to, value, 4, n, 1, 0, stream, true);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
    return issue_set(to, value, 1, width, height, pitch, nullptr, false);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
    return issue_set(to, value, 2, width, height, pitch, nullptr, false);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
    return issue_set(to, value, 4, width, height, pitch, nullptr, false);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
    return issue_set(to, value, 1, width, height, pitch, stream, true);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
    return issue_set(to, value, 2, width, height, pitch, stream, true);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
    return issue_set(to, value, 4, width, height, pitch, stream, true);
}

}  // namespace driver
}  // namespace attnscope::vgpu
