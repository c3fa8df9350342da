// BLAS level 3 apart from the general product (gemm.cpp), and cuBLAS' extensions geam and dgmm. See
// level1.cpp for the macros.
#include <algorithm>

#include "cublas/record.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cublas;
using DT = DataType;

namespace {

/// `key` names the second size: "k" for rank updates (n x n from n x k), "n" where the output is m x n.
Status call(Context* h, const char* function, const char* operation, DataType type, int64_t rows,
            int64_t columns, bool rank_update, int64_t ldc, void* output) {
    if (!usable(h)) return not_initialized;
    if (rows < 0 || columns < 0 || ldc < std::max<int64_t>(1, rows)) return invalid_value;
    if (rows == 0 || (columns == 0 && !rank_update)) return success;
    if (!output) return invalid_value;
    return record_call(h, function, operation,
                       {number(rank_update ? "n" : "m", rows), number(rank_update ? "k" : "n", columns),
                        text("type_a", name(type)), number("ldc", ldc)},
                       {output});
}

}  // namespace

#define RANK_K(Int, suffix, L, name, T)                                                              \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, int, Operation, Int n, Int k,   \
                                                         const void*, const void*, Int, const void*, \
                                                         void* c, Int ldc) {                         \
        return call(h, __func__, #name, T, n, k, true, ldc, c);                                      \
    }
#define RANK_2K(Int, suffix, L, name, operation, T)                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##name##suffix(Context* h, int, Operation, Int n, Int k, const void*, \
                                                    const void*, Int, const void*, Int, const void*,       \
                                                    void* c, Int ldc) {                                    \
        return call(h, __func__, operation, T, n, k, true, ldc, c);                                        \
    }
#define SYMM(Int, suffix, L, name, T)                                                                     \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, int, int, Int m, Int n, const void*, \
                                                         const void*, Int, const void*, Int, const void*, \
                                                         void* c, Int ldc) {                              \
        return call(h, __func__, #name, T, m, n, false, ldc, c);                                          \
    }
#define TRIANGULAR(Int, suffix, L, T)                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##trsm_v2##suffix(Context* h, int, int, Operation, int, Int m, Int n,   \
                                                       const void*, const void*, Int, void* b, Int ldb) {    \
        return call(h, __func__, "trsm", T, m, n, false, ldb, b);                                            \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##trmm_v2##suffix(Context* h, int, int, Operation, int, Int m, Int n,   \
                                                       const void*, const void*, Int, const void*, Int,      \
                                                       void* c, Int ldc) {                                   \
        return call(h, __func__, "trmm", T, m, n, false, ldc, c);                                            \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##geam##suffix(Context* h, Operation, Operation, Int m, Int n,          \
                                                    const void*, const void*, Int, const void*, const void*, \
                                                    Int, void* c, Int ldc) {                                 \
        return call(h, __func__, "geam", T, m, n, false, ldc, c);                                            \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##dgmm##suffix(Context* h, int, Int m, Int n, const void*, Int,         \
                                                    const void*, Int, void* c, Int ldc) {                    \
        return call(h, __func__, "dgmm", T, m, n, false, ldc, c);                                            \
    }
#define BOTH(MACRO, ...)      \
    MACRO(int, , __VA_ARGS__) \
    MACRO(int64_t, _64, __VA_ARGS__)
#define COMPLEX(MACRO, ...)                    \
    BOTH(MACRO, C, __VA_ARGS__, DT::complex64) \
    BOTH(MACRO, Z, __VA_ARGS__, DT::complex128)
#define ALL(MACRO, ...)                   \
    BOTH(MACRO, S, __VA_ARGS__, DT::fp32) \
    BOTH(MACRO, D, __VA_ARGS__, DT::fp64) \
    COMPLEX(MACRO, __VA_ARGS__)

ALL(RANK_K, syrk)
COMPLEX(RANK_K, herk)
ALL(RANK_2K, syr2k_v2, "syr2k")
COMPLEX(RANK_2K, her2k_v2, "her2k")
ALL(RANK_2K, syrkx, "syrkx")
COMPLEX(RANK_2K, herkx, "herkx")
ALL(SYMM, symm)
COMPLEX(SYMM, hemm)
BOTH(TRIANGULAR, S, DT::fp32)
BOTH(TRIANGULAR, D, DT::fp64)
BOTH(TRIANGULAR, C, DT::complex64)
BOTH(TRIANGULAR, Z, DT::complex128)
