// Batched factorisations and solvers. Their matrices are arrays of pointers that lie in device memory and are
// often made there, so that the memory they write is not known; what comes back to the host or lies in plain
// arrays is.
#include <algorithm>

#include "cublas/record.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cublas;
using DT = DataType;

namespace {

Status call(Context* h, const char* function, const char* operation, DataType type, int64_t m, int64_t n,
            int64_t lda, int64_t batch, std::vector<const void*> outputs, int* host_info) {
    if (!usable(h)) return not_initialized;
    if (m < 0 || n < 0 || batch < 0 || lda < std::max<int64_t>(1, m)) return invalid_value;
    if (host_info)
        *host_info = 0;  // an argument check, done by the library on the host: all arguments are valid
    if (m == 0 || batch == 0) return success;
    std::erase(outputs, nullptr);
    return record_call(h, function, operation,
                       {number("m", m), number("n", n), number("batch", batch), text("type_a", name(type)),
                        number("lda", lda), text("batch_layout", "pointers")},
                       std::move(outputs));
}

}  // namespace

#define BATCHED(L, T)                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##getrfBatched(Context* h, int n, void*, int lda, int* pivots,          \
                                                    int* info, int batch) {                                  \
        return call(h, __func__, "getrf", T, n, n, lda, batch, {pivots, info}, nullptr);                     \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##getriBatched(Context* h, int n, const void*, int lda, const int*,     \
                                                    void*, int, int* info, int batch) {                      \
        return call(h, __func__, "getri", T, n, n, lda, batch, {info}, nullptr);                             \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##getrsBatched(Context* h, Operation, int n, int nrhs, const void*,     \
                                                    int lda, const int*, void*, int, int* info, int batch) { \
        return call(h, __func__, "getrs", T, n, nrhs, lda, batch, {}, info);                                 \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##matinvBatched(Context* h, int n, const void*, int lda, void*, int,    \
                                                     int* info, int batch) {                                 \
        return call(h, __func__, "matinv", T, n, n, lda, batch, {info}, nullptr);                            \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##geqrfBatched(Context* h, int m, int n, void*, int lda, void*,         \
                                                    int* info, int batch) {                                  \
        return call(h, __func__, "geqrf", T, m, n, lda, batch, {}, info);                                    \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##gelsBatched(Context* h, Operation, int m, int n, int, void*, int lda, \
                                                   void*, int, int* info, int* device_info, int batch) {     \
        return call(h, __func__, "gels", T, m, n, lda, batch, {device_info}, info);                          \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##trsmBatched(Context* h, int, int, Operation, int, int m, int n,       \
                                                   const void*, const void*, int, void*, int ldb,            \
                                                   int batch) {                                              \
        return call(h, __func__, "trsm", T, m, n, ldb, batch, {}, nullptr);                                  \
    }                                                                                                        \
    ATTNSCOPE_EXPORT Status cublas##L##trsmBatched_64(Context* h, int, int, Operation, int, int64_t m,       \
                                                      int64_t n, const void*, const void*, int64_t, void*,   \
                                                      int64_t ldb, int64_t batch) {                          \
        return call(h, __func__, "trsm", T, m, n, ldb, batch, {}, nullptr);                                  \
    }

BATCHED(S, DT::fp32)
BATCHED(D, DT::fp64)
BATCHED(C, DT::complex64)
BATCHED(Z, DT::complex128)
