#include "cublas/types.h"

#include "symbols/answers.h"

namespace attnscope::vgpu::cublas {
namespace {

constexpr StatusName names[] = {{0, "CUBLAS_STATUS_SUCCESS"},           {1, "CUBLAS_STATUS_NOT_INITIALIZED"},
                                {3, "CUBLAS_STATUS_ALLOC_FAILED"},      {7, "CUBLAS_STATUS_INVALID_VALUE"},
                                {8, "CUBLAS_STATUS_ARCH_MISMATCH"},     {11, "CUBLAS_STATUS_MAPPING_ERROR"},
                                {13, "CUBLAS_STATUS_EXECUTION_FAILED"}, {14, "CUBLAS_STATUS_INTERNAL_ERROR"},
                                {15, "CUBLAS_STATUS_NOT_SUPPORTED"},    {16, "CUBLAS_STATUS_LICENSE_ERROR"}};
constexpr StatusName texts[] = {{0, "success"},
                                {1, "the library was not initialized"},
                                {3, "the resource allocation failed"},
                                {7, "an unsupported value or parameter was passed to the function"},
                                {8, "the function requires an architectural feature absent from the device"},
                                {11, "an access to GPU memory space failed"},
                                {13, "the function failed to launch on the GPU"},
                                {14, "an internal operation failed"},
                                {15, "the requested functionality is not supported"},
                                {16, "the license check failed"}};
}  // namespace

const char* status_name(int status) {
    return vgpu::status_name(names, status, "unrecognized status");
}
const char* status_text(int status) {
    return vgpu::status_name(texts, status, "unrecognized status");
}

const char* name(DataType type) {
    switch (type) {
        case DataType::fp32:
            return "fp32";
        case DataType::fp64:
            return "fp64";
        case DataType::fp16:
            return "fp16";
        case DataType::int8:
            return "int8";
        case DataType::complex64:
            return "complex64";
        case DataType::complex128:
            return "complex128";
        case DataType::complex32:
            return "complex32";
        case DataType::uint8:
            return "uint8";
        case DataType::int32:
            return "int32";
        case DataType::bf16:
            return "bf16";
        case DataType::fp8_e4m3:
            return "fp8_e4m3";
        case DataType::fp8_e5m2:
            return "fp8_e5m2";
        case DataType::fp8_ue8m0:
            return "fp8_ue8m0";
        case DataType::fp4_e2m1:
            return "fp4_e2m1";
    }
    return "unknown";
}

const char* name(ComputeType compute, DataType input, int math) {
    // The low bits are the mode, higher ones are flags (CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION is
    // 16).
    bool single = input == DataType::fp32 || input == DataType::complex64;
    switch (compute) {
        case ComputeType::fp16:
        case ComputeType::fp16_pedantic:
            return "fp16";
        case ComputeType::fp32:
            return single && (math & 15) == tf32_math ? "tf32" : "fp32";
        case ComputeType::fp32_pedantic:
            return "fp32";
        case ComputeType::fp64:
        case ComputeType::fp64_pedantic:
            return "fp64";
        case ComputeType::int32:
        case ComputeType::int32_pedantic:
            return "int32";
        case ComputeType::fp32_fast_fp16:
            return single ? "fp16" : "fp32";
        case ComputeType::fp32_fast_bf16:
            return single ? "bf16" : "fp32";
        case ComputeType::fp32_fast_tf32:
            return single ? "tf32" : "fp32";
        case ComputeType::fp32_emulated_bf16x9:
            return "bf16x9";
        case ComputeType::fp64_emulated:
            return "fp64_fixed_point";
    }
    return "unknown";
}

const char* name(Operation operation) {
    switch (operation) {
        case Operation::none:
            return "N";
        case Operation::transpose:
            return "T";
        case Operation::conjugate_transpose:
            return "C";
    }
    return "?";
}

}  // namespace attnscope::vgpu::cublas
