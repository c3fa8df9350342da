#pragma once
// cuBLASLt's descriptors. They must fit the documented opaque sizes, since a program may lay them out in its
// own memory (cublasLtMatmulDescInit and its kind), and are plain data for the same reason.
#include <cstddef>
#include <cstdint>

#include "cublas/types.h"

namespace attnscope::vgpu::cublas {

/// cublasLtMatrixLayoutOpaque_t, 64 bytes.
struct LtLayout {
    DataType type;
    int32_t order;  ///< 0 column-major, 1 row-major
    uint64_t rows, columns;
    int64_t leading;
    int32_t batch;
    uint32_t batch_mode;
    int64_t batch_stride, plane_offset;
};

/// cublasLtMatmulDescOpaque_t, 256 bytes.
struct LtMatmul {
    ComputeType compute;
    DataType scale_type;
    int32_t pointer_mode;
    Operation transpose_a, transpose_b, transpose_c;
    int32_t fill_mode;
    uint32_t epilogue;
    const void* bias;
    int64_t bias_batch_stride;
    void* aux;
    int64_t aux_leading, aux_batch_stride, alpha_batch_stride;
    const void *scale_a, *scale_b, *scale_c, *scale_d;
    void* amax_d;
    const void* aux_scale;
    void* aux_amax;
    const void* out_scale_d;
    void* emulation;
    int32_t sm_count_target, aux_type, bias_type;
    int32_t scale_mode_a, scale_mode_b, scale_mode_c, scale_mode_d, scale_mode_aux, out_scale_mode_d;
    int8_t fast_accumulation;
};

/// cublasLtMatmulPreferenceOpaque_t, 64 bytes.
struct LtPreference {
    uint32_t search_mode, reduction_mask;
    uint64_t max_workspace, implementation_mask;
    uint32_t alignment[4];
    float max_waves;
};

static_assert(sizeof(LtLayout) <= 64 && sizeof(LtMatmul) <= 256 && sizeof(LtPreference) <= 64);

/// cublasLtMatmulHeuristicResult_t
struct LtHeuristic {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    Status state;
    float waves;
    int32_t reserved[4];
};
static_assert(sizeof(LtHeuristic) == 96);

/// "none", "bias", "gelu_bias", "dgelu_bias_gradient" ...: the fused operation after the product
/// (cublasLtEpilogue_t).
const char* epilogue_name(uint32_t epilogue);

}  // namespace attnscope::vgpu::cublas
