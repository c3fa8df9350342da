// The general product in all its forms: one matrix, a strided batch, a batch of pointers, with fixed and with
// given types.
#include "cublas/record.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cublas;
using DT = DataType;

namespace {

/// The computation that a cublas<t>gemm does: that of its element type.
ComputeType natural(DataType type) {
    switch (type) {
        case DT::fp16:
            return ComputeType::fp16;
        case DT::fp64:
        case DT::complex128:
            return ComputeType::fp64;
        default:
            return ComputeType::fp32;
    }
}

}  // namespace

#define GEMM(Int, suffix, Name, T)                                                                           \
    ATTNSCOPE_EXPORT Status cublas##Name##suffix(                                                            \
        Context* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a,       \
        Int lda, const void* b, Int ldb, const void* beta, void* c, Int ldc) {                               \
        return record_product(                                                                               \
            h, __func__, {ta, tb, m, n, k, alpha, {a, T, lda}, {b, T, ldb}, beta, {c, T, ldc}, natural(T)}); \
    }
#define GEMM_STRIDED(Int, suffix, Name, T)                                                               \
    ATTNSCOPE_EXPORT Status cublas##Name##suffix(                                                        \
        Context* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a,   \
        Int lda, long long sa, const void* b, Int ldb, long long sb, const void* beta, void* c, Int ldc, \
        long long sc, Int batch) {                                                                       \
        return record_product(h, __func__,                                                               \
                              {ta,                                                                       \
                               tb,                                                                       \
                               m,                                                                        \
                               n,                                                                        \
                               k,                                                                        \
                               alpha,                                                                    \
                               {a, T, lda, sa},                                                          \
                               {b, T, ldb, sb},                                                          \
                               beta,                                                                     \
                               {c, T, ldc, sc},                                                          \
                               natural(T),                                                               \
                               Batching::strided,                                                        \
                               batch});                                                                  \
    }
#define GEMM_POINTERS(Int, suffix, Name, T)                                                            \
    ATTNSCOPE_EXPORT Status cublas##Name##suffix(                                                      \
        Context* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a, \
        Int lda, const void* b, Int ldb, const void* beta, void* c, Int ldc, Int batch) {              \
        return record_product(h, __func__,                                                             \
                              {ta,                                                                     \
                               tb,                                                                     \
                               m,                                                                      \
                               n,                                                                      \
                               k,                                                                      \
                               alpha,                                                                  \
                               {a, T, lda},                                                            \
                               {b, T, ldb},                                                            \
                               beta,                                                                   \
                               {c, T, ldc},                                                            \
                               natural(T),                                                             \
                               Batching::pointer_arrays,                                               \
                               batch});                                                                \
    }
// SgemmEx, CgemmEx, Cgemm3mEx: types of the matrices are given, the computation is the letter's.
#define GEMM_TYPED(Int, suffix, Name, T)                                                               \
    ATTNSCOPE_EXPORT Status cublas##Name##suffix(                                                      \
        Context* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a, \
        DT at, Int lda, const void* b, DT bt, Int ldb, const void* beta, void* c, DT ct, Int ldc) {    \
        return record_product(                                                                         \
            h, __func__,                                                                               \
            {ta, tb, m, n, k, alpha, {a, at, lda}, {b, bt, ldb}, beta, {c, ct, ldc}, natural(T)});     \
    }
#define GEMM_EX(Int, suffix, Name)                                                                           \
    ATTNSCOPE_EXPORT Status cublas##Name##Ex##suffix(                                                        \
        Context* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a,       \
        DT at, Int lda, const void* b, DT bt, Int ldb, const void* beta, void* c, DT ct, Int ldc,            \
        ComputeType compute, int) {                                                                          \
        return record_product(                                                                               \
            h, __func__, {ta, tb, m, n, k, alpha, {a, at, lda}, {b, bt, ldb}, beta, {c, ct, ldc}, compute}); \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##Name##BatchedEx##suffix(                                                 \
        Context* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a,       \
        DT at, Int lda, const void* b, DT bt, Int ldb, const void* beta, void* c, DT ct, Int ldc, Int batch, \
        ComputeType compute, int) {                                                                          \
        return record_product(h, __func__,                                                                   \
                              {ta,                                                                           \
                               tb,                                                                           \
                               m,                                                                            \
                               n,                                                                            \
                               k,                                                                            \
                               alpha,                                                                        \
                               {a, at, lda},                                                                 \
                               {b, bt, ldb},                                                                 \
                               beta,                                                                         \
                               {c, ct, ldc},                                                                 \
                               compute,                                                                      \
                               Batching::pointer_arrays,                                                     \
                               batch});                                                                      \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##Name##StridedBatchedEx##suffix(                                          \
        Context* h, Operation ta, Operation tb, Int m, Int n, Int k, const void* alpha, const void* a,       \
        DT at, Int lda, long long sa, const void* b, DT bt, Int ldb, long long sb, const void* beta,         \
        void* c, DT ct, Int ldc, long long sc, Int batch, ComputeType compute, int) {                        \
        return record_product(h, __func__,                                                                   \
                              {ta,                                                                           \
                               tb,                                                                           \
                               m,                                                                            \
                               n,                                                                            \
                               k,                                                                            \
                               alpha,                                                                        \
                               {a, at, lda, sa},                                                             \
                               {b, bt, ldb, sb},                                                             \
                               beta,                                                                         \
                               {c, ct, ldc, sc},                                                             \
                               compute,                                                                      \
                               Batching::strided,                                                            \
                               batch});                                                                      \
    }
#define BOTH(MACRO, ...)      \
    MACRO(int, , __VA_ARGS__) \
    MACRO(int64_t, _64, __VA_ARGS__)

BOTH(GEMM, Sgemm_v2, DT::fp32)
BOTH(GEMM, Dgemm_v2, DT::fp64)
BOTH(GEMM, Cgemm_v2, DT::complex64)
BOTH(GEMM, Zgemm_v2, DT::complex128)
BOTH(GEMM, Hgemm, DT::fp16)
BOTH(GEMM, Cgemm3m, DT::complex64)
BOTH(GEMM, Zgemm3m, DT::complex128)
BOTH(GEMM_STRIDED, SgemmStridedBatched, DT::fp32)
BOTH(GEMM_STRIDED, DgemmStridedBatched, DT::fp64)
BOTH(GEMM_STRIDED, CgemmStridedBatched, DT::complex64)
BOTH(GEMM_STRIDED, ZgemmStridedBatched, DT::complex128)
BOTH(GEMM_STRIDED, HgemmStridedBatched, DT::fp16)
BOTH(GEMM_STRIDED, Cgemm3mStridedBatched, DT::complex64)
BOTH(GEMM_POINTERS, SgemmBatched, DT::fp32)
BOTH(GEMM_POINTERS, DgemmBatched, DT::fp64)
BOTH(GEMM_POINTERS, CgemmBatched, DT::complex64)
BOTH(GEMM_POINTERS, ZgemmBatched, DT::complex128)
BOTH(GEMM_POINTERS, HgemmBatched, DT::fp16)
BOTH(GEMM_POINTERS, Cgemm3mBatched, DT::complex64)
BOTH(GEMM_TYPED, SgemmEx, DT::fp32)
BOTH(GEMM_TYPED, CgemmEx, DT::complex64)
BOTH(GEMM_TYPED, Cgemm3mEx, DT::complex64)
BOTH(GEMM_EX, Gemm)
