#pragma once
// How the BLAS functions become library calls: argument checks as cuBLAS documents them, then one record.
#include <cstdint>
#include <vector>

#include "core/api.h"
#include "cublas/context.h"
#include "cublas/types.h"

namespace attnscope::vgpu::cublas {

/// One matrix of a product. Dimensions and strides in elements, column-major, as given to cuBLAS.
struct Matrix {
    const void* data =
        nullptr;  ///< an array of pointers in device memory when the product's `pointer_arrays` is set
    DataType type = DataType::fp32;
    int64_t leading = 0;
    int64_t stride = 0;
};

enum class Batching { none, strided, pointer_arrays };

/// C = alpha op(A) op(B) + beta C, `batch` times.
struct Product {
    Operation transpose_a, transpose_b;
    int64_t m, n, k;
    const void* alpha;
    Matrix a, b;
    const void* beta;
    Matrix c;
    ComputeType compute;
    Batching batching = Batching::none;
    int64_t batch = 1;
};

/// Checks and records a product as "gemm". Status as documented: CUBLAS_STATUS_INVALID_VALUE for negative
/// sizes, unknown operations and leading dimensions that are too small, CUBLAS_STATUS_NOT_SUPPORTED for types
/// that do not go together. m, n or batch of 0 is a success that does nothing.
Status record_product(Context* context, const char* function, const Product& product);

/// Records any other call. `scalar_results` go to the host (counted when the program gets them uncomputed) or
/// to the device, as the handle's pointer mode says.
struct Result {
    void* data;
    size_t bytes;
};
Status record_call(Context* context, const char* function, const char* operation,
                   std::vector<Attribute> attributes, std::vector<const void*> outputs,
                   std::vector<Result> scalar_results = {});

inline Attribute number(const char* key, int64_t value) {
    return {key, {}, value};
}
inline Attribute text(const char* key, const char* value) {
    return {key, value, 0};
}

bool valid(Operation operation);
size_t size_of(DataType type);

}  // namespace attnscope::vgpu::cublas
