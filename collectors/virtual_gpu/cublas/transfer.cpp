// cublasSetMatrix and its kind: copies of columns between host and device, which the real library does with
// cudaMemcpy2D. Here they go through the driver's stand-in, so that they are accounted and recorded as the
// copies they are.
#include <cuda.h>
#include <dlfcn.h>

#include "cublas/types.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cublas;

namespace {

enum class Direction { to_device, to_host };

Status copy(Direction direction, int64_t rows, int64_t columns, int64_t element, const void* source,
            int64_t source_leading, void* destination, int64_t destination_leading, CUstream stream,
            bool asynchronous) {
    if (rows < 0 || columns < 0 || element <= 0 || source_leading <= 0 || destination_leading <= 0)
        return invalid_value;
    if (rows > source_leading || rows > destination_leading) return invalid_value;
    if (rows == 0 || columns == 0) return success;
    using Copy = CUresult (*)(const CUDA_MEMCPY2D*);
    using CopyAsync = CUresult (*)(const CUDA_MEMCPY2D*, CUstream);
    static const auto plain = reinterpret_cast<Copy>(dlsym(RTLD_DEFAULT, "cuMemcpy2D_v2"));
    static const auto async = reinterpret_cast<CopyAsync>(dlsym(RTLD_DEFAULT, "cuMemcpy2DAsync_v2"));
    CUDA_MEMCPY2D region = {};
    region.srcPitch = static_cast<size_t>(source_leading * element);
    region.dstPitch = static_cast<size_t>(destination_leading * element);
    region.WidthInBytes = static_cast<size_t>(rows * element);
    region.Height = static_cast<size_t>(columns);
    if (direction == Direction::to_device) {
        region.srcMemoryType = CU_MEMORYTYPE_HOST;
        region.srcHost = source;
        region.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        region.dstDevice = reinterpret_cast<CUdeviceptr>(destination);
    } else {
        region.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        region.srcDevice = reinterpret_cast<CUdeviceptr>(source);
        region.dstMemoryType = CU_MEMORYTYPE_HOST;
        region.dstHost = destination;
    }
    if (asynchronous) return async && async(&region, stream) == CUDA_SUCCESS ? success : mapping_error;
    return plain && plain(&region) == CUDA_SUCCESS ? success : mapping_error;
}

/// A vector with increment i is a matrix of one row whose columns lie i elements apart.
Status vector(Direction direction, int64_t n, int64_t element, const void* x, int64_t incx, void* y,
              int64_t incy, CUstream stream, bool asynchronous) {
    if (incx == 1 && incy == 1)
        return copy(direction, n, 1, element, x, n > 0 ? n : 1, y, n > 0 ? n : 1, stream, asynchronous);
    return copy(direction, 1, n, element, x, incx, y, incy, stream, asynchronous);
}

}  // namespace

#define TRANSFER(Int, suffix, verb, direction)                                                              \
    ATTNSCOPE_EXPORT Status cublas##verb##Matrix##suffix(Int rows, Int cols, Int size, const void* a,       \
                                                         Int lda, void* b, Int ldb) {                       \
        return copy(direction, rows, cols, size, a, lda, b, ldb, nullptr, false);                           \
    }                                                                                                       \
    ATTNSCOPE_EXPORT Status cublas##verb##MatrixAsync##suffix(Int rows, Int cols, Int size, const void* a,  \
                                                              Int lda, void* b, Int ldb, CUstream stream) { \
        return copy(direction, rows, cols, size, a, lda, b, ldb, stream, true);                             \
    }                                                                                                       \
    ATTNSCOPE_EXPORT Status cublas##verb##Vector##suffix(Int n, Int size, const void* x, Int incx, void* y, \
                                                         Int incy) {                                        \
        return vector(direction, n, size, x, incx, y, incy, nullptr, false);                                \
    }                                                                                                       \
    ATTNSCOPE_EXPORT Status cublas##verb##VectorAsync##suffix(Int n, Int size, const void* x, Int incx,     \
                                                              void* y, Int incy, CUstream stream) {         \
        return vector(direction, n, size, x, incx, y, incy, stream, true);                                  \
    }
TRANSFER(int, , Set, Direction::to_device)
TRANSFER(int64_t, _64, Set, Direction::to_device)
TRANSFER(int, , Get, Direction::to_host)
TRANSFER(int64_t, _64, Get, Direction::to_host)
