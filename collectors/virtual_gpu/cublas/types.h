#pragma once
// cuBLAS' documented types and values, as far as the stand-ins need them. NVIDIA's cublas_api.h is not on a
// user's machine; tests/virtual_gpu/libs_abi_test.cpp compares these with it where it is.
#include <cstdint>

namespace attnscope::vgpu::cublas {

enum Status : int {
    success = 0,
    not_initialized = 1,
    alloc_failed = 3,
    invalid_value = 7,
    arch_mismatch = 8,
    mapping_error = 11,
    execution_failed = 13,
    internal_error = 14,
    not_supported = 15,
    license_error = 16
};
enum class Operation : int { none = 0, transpose = 1, conjugate_transpose = 2 };
enum class PointerMode : int { host = 0, device = 1 };
enum MathMode : int { default_math = 0, tensor_op_math = 1, pedantic_math = 2, tf32_math = 3 };

/// cudaDataType (library_types.h)
enum class DataType : int {
    fp32 = 0,
    fp64 = 1,
    fp16 = 2,
    int8 = 3,
    complex64 = 4,
    complex128 = 5,
    complex32 = 6,
    uint8 = 8,
    int32 = 10,
    bf16 = 14,
    fp8_e4m3 = 28,
    fp8_e5m2 = 29,
    fp8_ue8m0 = 30,
    fp4_e2m1 = 33
};

/// cublasComputeType_t
enum class ComputeType : int {
    fp16 = 64,
    fp16_pedantic = 65,
    fp32 = 68,
    fp32_pedantic = 69,
    fp64 = 70,
    fp64_pedantic = 71,
    int32 = 72,
    int32_pedantic = 73,
    fp32_fast_fp16 = 74,
    fp32_fast_bf16 = 75,
    fp32_fast_tf32 = 77,
    fp32_emulated_bf16x9 = 78,
    fp64_emulated = 79
};

/// "fp16", "complex64" ...; "type 99" for a value without a name here.
const char* name(DataType type);
/// What multiplies: "fp32", "tf32", "fp16" ... `math` turns fp32 into tf32 where the program allowed it for
/// fp32 inputs.
const char* name(ComputeType compute, DataType input, int math);
const char* name(Operation operation);

const char* status_name(int status);
const char* status_text(int status);

}  // namespace attnscope::vgpu::cublas
