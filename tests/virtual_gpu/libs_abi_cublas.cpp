// Compiled only where NVIDIA's cuBLAS headers are: the types and values that the stand-in declares itself are
// the documented ones.
#include <cublasLt.h>
#include <cublas_v2.h>

#include "collectors/virtual_gpu/cublas/lt.h"
#include "collectors/virtual_gpu/cublas/types.h"

namespace own = attnscope::vgpu::cublas;

#define SAME(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME(own::success, CUBLAS_STATUS_SUCCESS);
SAME(own::not_initialized, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(own::alloc_failed, CUBLAS_STATUS_ALLOC_FAILED);
SAME(own::invalid_value, CUBLAS_STATUS_INVALID_VALUE);
SAME(own::arch_mismatch, CUBLAS_STATUS_ARCH_MISMATCH);
SAME(own::mapping_error, CUBLAS_STATUS_MAPPING_ERROR);
SAME(own::execution_failed, CUBLAS_STATUS_EXECUTION_FAILED);
SAME(own::internal_error, CUBLAS_STATUS_INTERNAL_ERROR);
SAME(own::not_supported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(own::license_error, CUBLAS_STATUS_LICENSE_ERROR);
SAME(own::Operation::none, CUBLAS_OP_N);
SAME(own::Operation::transpose, CUBLAS_OP_T);
SAME(own::Operation::conjugate_transpose, CUBLAS_OP_C);
SAME(own::PointerMode::host, CUBLAS_POINTER_MODE_HOST);
SAME(own::PointerMode::device, CUBLAS_POINTER_MODE_DEVICE);
SAME(own::tf32_math, CUBLAS_TF32_TENSOR_OP_MATH);
SAME(own::pedantic_math, CUBLAS_PEDANTIC_MATH);
SAME(own::DataType::fp32, CUDA_R_32F);
SAME(own::DataType::fp64, CUDA_R_64F);
SAME(own::DataType::fp16, CUDA_R_16F);
SAME(own::DataType::int8, CUDA_R_8I);
SAME(own::DataType::complex64, CUDA_C_32F);
SAME(own::DataType::complex128, CUDA_C_64F);
SAME(own::DataType::complex32, CUDA_C_16F);
SAME(own::DataType::uint8, CUDA_R_8U);
SAME(own::DataType::int32, CUDA_R_32I);
SAME(own::DataType::bf16, CUDA_R_16BF);
SAME(own::DataType::fp8_e4m3, CUDA_R_8F_E4M3);
SAME(own::DataType::fp8_e5m2, CUDA_R_8F_E5M2);
SAME(own::DataType::fp8_ue8m0, CUDA_R_8F_UE8M0);
SAME(own::DataType::fp4_e2m1, CUDA_R_4F_E2M1);
SAME(own::ComputeType::fp16, CUBLAS_COMPUTE_16F);
SAME(own::ComputeType::fp16_pedantic, CUBLAS_COMPUTE_16F_PEDANTIC);
SAME(own::ComputeType::fp32, CUBLAS_COMPUTE_32F);
SAME(own::ComputeType::fp32_pedantic, CUBLAS_COMPUTE_32F_PEDANTIC);
SAME(own::ComputeType::fp64, CUBLAS_COMPUTE_64F);
SAME(own::ComputeType::fp64_pedantic, CUBLAS_COMPUTE_64F_PEDANTIC);
SAME(own::ComputeType::int32, CUBLAS_COMPUTE_32I);
SAME(own::ComputeType::int32_pedantic, CUBLAS_COMPUTE_32I_PEDANTIC);
SAME(own::ComputeType::fp32_fast_fp16, CUBLAS_COMPUTE_32F_FAST_16F);
SAME(own::ComputeType::fp32_fast_bf16, CUBLAS_COMPUTE_32F_FAST_16BF);
SAME(own::ComputeType::fp32_fast_tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(own::ComputeType::fp32_emulated_bf16x9, CUBLAS_COMPUTE_32F_EMULATED_16BFX9);
SAME(own::ComputeType::fp64_emulated, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT);
static_assert(sizeof(own::LtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(own::LtHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(sizeof(own::LtMatmul) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(own::LtLayout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(own::LtPreference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
// The exported functions are called with NVIDIA's declarations in tests/virtual_gpu/libs_abi_test.cpp.
bool cublas_headers_agree() {
    return true;
}
