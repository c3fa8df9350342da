// BLAS level 1. Each macro is one function of cublas_v2.h for one element type and both index types (int, and
// int64_t with the suffix _64). All pointers are void*: the binary interface is the same, and nothing is
// computed.
#include "cublas/record.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cublas;
using DT = DataType;

namespace {

/// Vector operations of n elements do nothing for n <= 0.
Status vector_call(Context* h, const char* function, const char* operation, int64_t n, DataType type,
                   std::vector<const void*> outputs, std::vector<Result> results = {}) {
    if (!usable(h)) return not_initialized;
    if (n <= 0 && results.empty()) return success;
    return record_call(h, function, operation, {number("n", n), text("type_a", name(type))},
                       std::move(outputs), std::move(results));
}

Status reduction(Context* h, const char* function, const char* operation, int64_t n, DataType type,
                 void* result, size_t bytes) {
    if (usable(h) && !result) return invalid_value;
    return vector_call(h, function, operation, n, type, {}, {{result, bytes}});
}

}  // namespace

#define AXPY(Int, suffix, L, T)                                                                          \
    ATTNSCOPE_EXPORT Status cublas##L##axpy_v2##suffix(Context* h, Int n, const void*, const void*, Int, \
                                                       void* y, Int) {                                   \
        return vector_call(h, __func__, "axpy", n, T, {y});                                              \
    }
#define COPY(Int, suffix, L, T)                                                                             \
    ATTNSCOPE_EXPORT Status cublas##L##copy_v2##suffix(Context* h, Int n, const void*, Int, void* y, Int) { \
        return vector_call(h, __func__, "copy", n, T, {y});                                                 \
    }
#define SWAP(Int, suffix, L, T)                                                                         \
    ATTNSCOPE_EXPORT Status cublas##L##swap_v2##suffix(Context* h, Int n, void* x, Int, void* y, Int) { \
        return vector_call(h, __func__, "swap", n, T, {x, y});                                          \
    }
#define SCAL(Int, suffix, L, T)                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##scal_v2##suffix(Context* h, Int n, const void*, void* x, Int) { \
        return vector_call(h, __func__, "scal", n, T, {x});                                            \
    }
#define ROT(Int, suffix, L, T)                                                                       \
    ATTNSCOPE_EXPORT Status cublas##L##rot_v2##suffix(Context* h, Int n, void* x, Int, void* y, Int, \
                                                      const void*, const void*) {                    \
        return vector_call(h, __func__, "rot", n, T, {x, y});                                        \
    }
#define DOT(Int, suffix, L, name, T)                                                                       \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, Int n, const void*, Int, const void*, \
                                                         Int, void* result) {                              \
        return reduction(h, __func__, "dot", n, T, result, size_of(T));                                    \
    }
// nrm2 and asum of complex numbers are real: Real is the result's type.
#define NORM(Int, suffix, L, name, T, Real)                                                   \
    ATTNSCOPE_EXPORT Status cublas##L##name##_v2##suffix(Context* h, Int n, const void*, Int, \
                                                         void* result) {                      \
        return reduction(h, __func__, #name, n, T, result, size_of(Real));                    \
    }
#define INDEX(Int, suffix, L, name, T)                                                         \
    ATTNSCOPE_EXPORT Status cublasI##L##name##_v2##suffix(Context* h, Int n, const void*, Int, \
                                                          Int* result) {                       \
        return reduction(h, __func__, #name, n, T, result, sizeof(Int));                       \
    }
#define BOTH(MACRO, ...)      \
    MACRO(int, , __VA_ARGS__) \
    MACRO(int64_t, _64, __VA_ARGS__)
#define ALL(MACRO)                \
    BOTH(MACRO, S, DT::fp32)      \
    BOTH(MACRO, D, DT::fp64)      \
    BOTH(MACRO, C, DT::complex64) \
    BOTH(MACRO, Z, DT::complex128)

ALL(AXPY)
ALL(COPY)
ALL(SWAP)
ALL(SCAL)
ALL(ROT)
BOTH(SCAL, Cs, DT::complex64)
BOTH(SCAL, Zd, DT::complex128)
BOTH(ROT, Cs, DT::complex64)
BOTH(ROT, Zd, DT::complex128)
BOTH(DOT, S, dot, DT::fp32)
BOTH(DOT, D, dot, DT::fp64)
BOTH(DOT, C, dotu, DT::complex64)
BOTH(DOT, C, dotc, DT::complex64)
BOTH(DOT, Z, dotu, DT::complex128)
BOTH(DOT, Z, dotc, DT::complex128)
BOTH(NORM, S, nrm2, DT::fp32, DT::fp32)
BOTH(NORM, D, nrm2, DT::fp64, DT::fp64)
BOTH(NORM, Sc, nrm2, DT::complex64, DT::fp32)
BOTH(NORM, Dz, nrm2, DT::complex128, DT::fp64)
BOTH(NORM, S, asum, DT::fp32, DT::fp32)
BOTH(NORM, D, asum, DT::fp64, DT::fp64)
BOTH(NORM, Sc, asum, DT::complex64, DT::fp32)
BOTH(NORM, Dz, asum, DT::complex128, DT::fp64)
BOTH(INDEX, s, amax, DT::fp32)
BOTH(INDEX, d, amax, DT::fp64)
BOTH(INDEX, c, amax, DT::complex64)
BOTH(INDEX, z, amax, DT::complex128)
BOTH(INDEX, s, amin, DT::fp32)
BOTH(INDEX, d, amin, DT::fp64)
BOTH(INDEX, c, amin, DT::complex64)
BOTH(INDEX, z, amin, DT::complex128)

// The Ex functions take the types as arguments: x, y, result, computation.
#define DOTEX(Int, suffix, name)                                                                     \
    ATTNSCOPE_EXPORT Status cublas##name##suffix(Context* h, Int n, const void*, DataType type, Int, \
                                                 const void*, DataType, Int, void* result,           \
                                                 DataType result_type, DataType) {                   \
        return reduction(h, __func__, "dot", n, type, result, size_of(result_type));                 \
    }
#define NORMEX(Int, suffix, name, operation)                                                         \
    ATTNSCOPE_EXPORT Status cublas##name##suffix(Context* h, Int n, const void*, DataType type, Int, \
                                                 void* result, DataType result_type, DataType) {     \
        return reduction(h, __func__, operation, n, type, result, size_of(result_type));             \
    }
#define AXPYEX(Int, suffix, name)                                                                        \
    ATTNSCOPE_EXPORT Status cublas##name##suffix(Context* h, Int n, const void*, DataType, const void*,  \
                                                 DataType type, Int, void* y, DataType, Int, DataType) { \
        return vector_call(h, __func__, "axpy", n, type, {y});                                           \
    }
#define SCALEX(Int, suffix, name)                                                                   \
    ATTNSCOPE_EXPORT Status cublas##name##suffix(Context* h, Int n, const void*, DataType, void* x, \
                                                 DataType type, Int, DataType) {                    \
        return vector_call(h, __func__, "scal", n, type, {x});                                      \
    }
BOTH(DOTEX, DotEx)
BOTH(DOTEX, DotcEx)
BOTH(NORMEX, Nrm2Ex, "nrm2")
BOTH(NORMEX, AsumEx, "asum")
BOTH(AXPYEX, AxpyEx)
BOTH(SCALEX, ScalEx)
