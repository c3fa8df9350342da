// BLAS level 2: matrix and vector. See level1.cpp for the macros' shape.
#include <algorithm>

#include "cublas/record.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cublas;
using DT = DataType;

namespace {

struct MatrixVector {
    const char* operation;
    DataType type;
    int64_t m, n, leading;
    Operation transpose = Operation::none;
    int64_t batch = 1;
    bool pointer_arrays = false;
};

Status call(Context* h, const char* function, const MatrixVector& p, void* output) {
    if (!usable(h)) return not_initialized;
    if (p.m < 0 || p.n < 0 || p.batch < 0 || !valid(p.transpose) || p.leading < std::max<int64_t>(1, p.m))
        return invalid_value;
    if (p.m == 0 || p.n == 0 || p.batch == 0) return success;
    std::vector<attnscope::vgpu::Attribute> attributes{number("m", p.m),
                                                       number("n", p.n),
                                                       number("batch", p.batch),
                                                       text("type_a", name(p.type)),
                                                       text("transpose_a", name(p.transpose)),
                                                       number("lda", p.leading)};
    std::vector<const void*> outputs;
    if (p.pointer_arrays)
        attributes.push_back(text("batch_layout", "pointers"));
    else
        outputs.push_back(output);
    return record_call(h, function, p.operation, std::move(attributes), std::move(outputs));
}

}  // namespace

#define GEMV(Int, suffix, L, T)                                                                              \
    ATTNSCOPE_EXPORT Status cublas##L##gemv_v2##suffix(Context* h, Operation t, Int m, Int n,                \
                                                       const void* alpha, const void*, Int lda, const void*, \
                                                       Int incx, const void* beta, void* y, Int incy) {      \
        if (usable(h) && (!alpha || !beta || !y || incx == 0 || incy == 0)) return invalid_value;            \
        return call(h, __func__, {"gemv", T, m, n, lda, t}, y);                                              \
    }
#define GEMV_BATCHED(Int, suffix, L, T)                                                                    \
    ATTNSCOPE_EXPORT Status cublas##L##gemvBatched##suffix(Context* h, Operation t, Int m, Int n,          \
                                                           const void*, const void*, Int lda, const void*, \
                                                           Int, const void*, void*, Int, Int batch) {      \
        return call(h, __func__, {"gemv", T, m, n, lda, t, batch, true}, nullptr);                         \
    }                                                                                                      \
    ATTNSCOPE_EXPORT Status cublas##L##gemvStridedBatched##suffix(                                         \
        Context* h, Operation t, Int m, Int n, const void*, const void*, Int lda, long long, const void*,  \
        Int, long long, const void*, void* y, Int, long long, Int batch) {                                 \
        return call(h, __func__, {"gemv", T, m, n, lda, t, batch}, y);                                     \
    }
#define GER(Int, suffix, L, name, T)                                                                         \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, Int m, Int n, const void*, const void*, \
                                                         Int, const void*, Int, void* a, Int lda) {          \
        return call(h, __func__, {"ger", T, m, n, lda}, a);                                                  \
    }
#define SYMV(Int, suffix, L, name, T)                                                                      \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, int, Int n, const void*, const void*, \
                                                         Int lda, const void*, Int, const void*, void* y,  \
                                                         Int) {                                            \
        return call(h, __func__, {#name, T, n, n, lda}, y);                                                \
    }
#define SYR(Int, suffix, L, name, T)                                                                       \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, int, Int n, const void*, const void*, \
                                                         Int, void* a, Int lda) {                          \
        return call(h, __func__, {#name, T, n, n, lda}, a);                                                \
    }
#define SYR2(Int, suffix, L, name, T)                                                                      \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, int, Int n, const void*, const void*, \
                                                         Int, const void*, Int, void* a, Int lda) {        \
        return call(h, __func__, {#name, T, n, n, lda}, a);                                                \
    }
#define TRIANGULAR(Int, suffix, L, T)                                                            \
    ATTNSCOPE_EXPORT Status cublas##L##trmv_v2##suffix(Context* h, int, Operation t, int, Int n, \
                                                       const void*, Int lda, void* x, Int) {     \
        return call(h, __func__, {"trmv", T, n, n, lda, t}, x);                                  \
    }                                                                                            \
    ATTNSCOPE_EXPORT Status cublas##L##trsv_v2##suffix(Context* h, int, Operation t, int, Int n, \
                                                       const void*, Int lda, void* x, Int) {     \
        return call(h, __func__, {"trsv", T, n, n, lda, t}, x);                                  \
    }
#define BOTH(MACRO, ...)      \
    MACRO(int, , __VA_ARGS__) \
    MACRO(int64_t, _64, __VA_ARGS__)
#define ALL(MACRO)                \
    BOTH(MACRO, S, DT::fp32)      \
    BOTH(MACRO, D, DT::fp64)      \
    BOTH(MACRO, C, DT::complex64) \
    BOTH(MACRO, Z, DT::complex128)
#define ALL_NAMED(MACRO, name)          \
    BOTH(MACRO, S, name, DT::fp32)      \
    BOTH(MACRO, D, name, DT::fp64)      \
    BOTH(MACRO, C, name, DT::complex64) \
    BOTH(MACRO, Z, name, DT::complex128)
#define COMPLEX_NAMED(MACRO, name)      \
    BOTH(MACRO, C, name, DT::complex64) \
    BOTH(MACRO, Z, name, DT::complex128)

ALL(GEMV)
ALL(GEMV_BATCHED)
BOTH(GEMV_BATCHED, HSH, DT::fp16)
BOTH(GEMV_BATCHED, HSS, DT::fp16)
BOTH(GEMV_BATCHED, TST, DT::bf16)
BOTH(GEMV_BATCHED, TSS, DT::bf16)
BOTH(GER, S, ger, DT::fp32)
BOTH(GER, D, ger, DT::fp64)
COMPLEX_NAMED(GER, geru)
COMPLEX_NAMED(GER, gerc)
ALL_NAMED(SYMV, symv)
COMPLEX_NAMED(SYMV, hemv)
ALL_NAMED(SYR, syr)
COMPLEX_NAMED(SYR, her)
ALL_NAMED(SYR2, syr2)
COMPLEX_NAMED(SYR2, her2)
ALL(TRIANGULAR)
