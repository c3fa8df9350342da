// cuBLASLt's descriptors: created, destroyed, and their attributes written and read back as documented.
#include <cstring>
#include <new>

#include "core/api.h"
#include "cublas/context.h"
#include "cublas/lt.h"
#include "symbols/answers.h"
#include "symbols/export.h"

namespace attnscope::vgpu::cublas {
namespace {

constexpr int version[3] = {13, 1, 0};

struct Field {
    int attribute;
    size_t offset, size;
};
#define FIELD(attribute, Type, member) \
    { attribute, offsetof(Type, member), sizeof(Type::member) }

constexpr Field layout_fields[] = {
    FIELD(0, LtLayout, type),         FIELD(1, LtLayout, order),        FIELD(2, LtLayout, rows),
    FIELD(3, LtLayout, columns),      FIELD(4, LtLayout, leading),      FIELD(5, LtLayout, batch),
    FIELD(6, LtLayout, batch_stride), FIELD(7, LtLayout, plane_offset), FIELD(8, LtLayout, batch_mode)};
constexpr Field matmul_fields[] = {FIELD(0, LtMatmul, compute),
                                   FIELD(1, LtMatmul, scale_type),
                                   FIELD(2, LtMatmul, pointer_mode),
                                   FIELD(3, LtMatmul, transpose_a),
                                   FIELD(4, LtMatmul, transpose_b),
                                   FIELD(5, LtMatmul, transpose_c),
                                   FIELD(6, LtMatmul, fill_mode),
                                   FIELD(7, LtMatmul, epilogue),
                                   FIELD(8, LtMatmul, bias),
                                   FIELD(10, LtMatmul, bias_batch_stride),
                                   FIELD(11, LtMatmul, aux),
                                   FIELD(12, LtMatmul, aux_leading),
                                   FIELD(13, LtMatmul, aux_batch_stride),
                                   FIELD(14, LtMatmul, alpha_batch_stride),
                                   FIELD(15, LtMatmul, sm_count_target),
                                   FIELD(17, LtMatmul, scale_a),
                                   FIELD(18, LtMatmul, scale_b),
                                   FIELD(19, LtMatmul, scale_c),
                                   FIELD(20, LtMatmul, scale_d),
                                   FIELD(21, LtMatmul, amax_d),
                                   FIELD(22, LtMatmul, aux_type),
                                   FIELD(23, LtMatmul, aux_scale),
                                   FIELD(24, LtMatmul, aux_amax),
                                   FIELD(25, LtMatmul, fast_accumulation),
                                   FIELD(26, LtMatmul, bias_type),
                                   FIELD(31, LtMatmul, scale_mode_a),
                                   FIELD(32, LtMatmul, scale_mode_b),
                                   FIELD(33, LtMatmul, scale_mode_c),
                                   FIELD(34, LtMatmul, scale_mode_d),
                                   FIELD(35, LtMatmul, scale_mode_aux),
                                   FIELD(36, LtMatmul, out_scale_d),
                                   FIELD(37, LtMatmul, out_scale_mode_d),
                                   FIELD(38, LtMatmul, emulation)};
constexpr Field preference_fields[] = {
    FIELD(0, LtPreference, search_mode),         FIELD(1, LtPreference, max_workspace),
    FIELD(3, LtPreference, reduction_mask),      FIELD(5, LtPreference, alignment[0]),
    FIELD(6, LtPreference, alignment[1]),        FIELD(7, LtPreference, alignment[2]),
    FIELD(8, LtPreference, alignment[3]),        FIELD(9, LtPreference, max_waves),
    FIELD(12, LtPreference, implementation_mask)};
#undef FIELD

template <size_t N>
Status set(void* descriptor, const Field (&fields)[N], int attribute, const void* value, size_t bytes) {
    if (!descriptor || !value) return invalid_value;
    for (const Field& field : fields)
        if (field.attribute == attribute) {
            if (bytes != field.size) return invalid_value;
            std::memcpy(static_cast<char*>(descriptor) + field.offset, value, bytes);
            return success;
        }
    return invalid_value;
}

/// With bytes 0 the size is asked for, through `written`.
template <size_t N>
Status get(const void* descriptor, const Field (&fields)[N], int attribute, void* value, size_t bytes,
           size_t* written) {
    if (!descriptor || (bytes == 0 && !written) || (bytes != 0 && !value)) return invalid_value;
    for (const Field& field : fields)
        if (field.attribute == attribute) {
            if (bytes != 0 && bytes != field.size) return invalid_value;
            if (bytes != 0) std::memcpy(value, static_cast<const char*>(descriptor) + field.offset, bytes);
            if (written) *written = field.size;
            return success;
        }
    return invalid_value;
}

Status initialise(LtLayout* layout, size_t size, DataType type, uint64_t rows, uint64_t columns,
                  int64_t leading) {
    if (!layout) return invalid_value;
    if (size < sizeof *layout) return alloc_failed;
    *layout = {};
    layout->type = type;
    layout->rows = rows;
    layout->columns = columns;
    layout->leading = leading;
    layout->batch = 1;
    return success;
}
Status initialise(LtMatmul* matmul, size_t size, ComputeType compute, DataType scale_type) {
    if (!matmul) return invalid_value;
    if (size < sizeof *matmul) return alloc_failed;
    *matmul = {};
    matmul->compute = compute;
    matmul->scale_type = scale_type;
    matmul->fill_mode = 2;  // CUBLAS_FILL_MODE_FULL
    matmul->epilogue = 1;   // CUBLASLT_EPILOGUE_DEFAULT
    matmul->aux_type = matmul->bias_type = -1;
    return success;
}
Status initialise(LtPreference* preference, size_t size) {
    if (!preference) return invalid_value;
    if (size < sizeof *preference) return alloc_failed;
    *preference = {};
    preference->reduction_mask = 7;  // CUBLASLT_REDUCTION_SCHEME_MASK
    preference->implementation_mask = ~uint64_t{0};
    for (uint32_t& alignment : preference->alignment) alignment = 256;
    return success;
}

template <class Descriptor, class... Arguments>
Status create(Descriptor** descriptor, Arguments... arguments) {
    if (!descriptor) return invalid_value;
    *descriptor = new (std::nothrow) Descriptor;
    return *descriptor ? initialise(*descriptor, sizeof(Descriptor), arguments...) : alloc_failed;
}
template <class Descriptor>
Status destroy(Descriptor* descriptor) {
    delete descriptor;
    return success;
}

}  // namespace

}  // namespace attnscope::vgpu::cublas

using namespace attnscope::vgpu::cublas;

ATTNSCOPE_EXPORT Status cublasLtCreate(Context** handle) {
    return create_context(handle);
}
ATTNSCOPE_EXPORT Status cublasLtDestroy(Context* handle) {
    if (!usable(handle)) return not_initialized;
    destroy_context(handle);
    return success;
}
ATTNSCOPE_EXPORT size_t cublasLtGetVersion() {
    return 130100;
}
ATTNSCOPE_EXPORT size_t cublasLtGetCudartVersion() {
    return 13000;
}
ATTNSCOPE_EXPORT Status cublasLtGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? success : invalid_value;
}
ATTNSCOPE_EXPORT const char* cublasLtGetStatusName(int status) {
    return status_name(status);
}
ATTNSCOPE_EXPORT const char* cublasLtGetStatusString(int status) {
    return status_text(status);
}
ATTNSCOPE_EXPORT Status cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
    if (!capacity) return invalid_value;
    *capacity = 0;
    return success;
}
ATTNSCOPE_EXPORT Status cublasLtHeuristicsCacheSetCapacity(size_t) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasLtLoggerSetCallback(void*) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasLtLoggerSetFile(void*) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasLtLoggerOpenFile(const char*) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasLtLoggerSetLevel(int) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasLtLoggerSetMask(int) {
    return success;
}
ATTNSCOPE_EXPORT Status cublasLtLoggerForceDisable() {
    return success;
}

ATTNSCOPE_EXPORT Status cublasLtMatrixLayoutInit_internal(LtLayout* layout, size_t size, DataType type,
                                                          uint64_t rows, uint64_t columns, int64_t leading) {
    return initialise(layout, size, type, rows, columns, leading);
}
ATTNSCOPE_EXPORT Status cublasLtMatrixLayoutCreate(LtLayout** layout, DataType type, uint64_t rows,
                                                   uint64_t columns, int64_t leading) {
    return create(layout, type, rows, columns, leading);
}
ATTNSCOPE_EXPORT Status cublasLtMatrixLayoutDestroy(LtLayout* layout) {
    return destroy(layout);
}
ATTNSCOPE_EXPORT Status cublasLtMatrixLayoutSetAttribute(LtLayout* layout, int attribute, const void* value,
                                                         size_t bytes) {
    return set(layout, layout_fields, attribute, value, bytes);
}
ATTNSCOPE_EXPORT Status cublasLtMatrixLayoutGetAttribute(LtLayout* layout, int attribute, void* value,
                                                         size_t bytes, size_t* written) {
    return get(layout, layout_fields, attribute, value, bytes, written);
}

ATTNSCOPE_EXPORT Status cublasLtMatmulDescInit_internal(LtMatmul* matmul, size_t size, ComputeType compute,
                                                        DataType scale_type) {
    return initialise(matmul, size, compute, scale_type);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulDescCreate(LtMatmul** matmul, ComputeType compute,
                                                 DataType scale_type) {
    return create(matmul, compute, scale_type);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulDescDestroy(LtMatmul* matmul) {
    return destroy(matmul);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulDescSetAttribute(LtMatmul* matmul, int attribute, const void* value,
                                                       size_t bytes) {
    return set(matmul, matmul_fields, attribute, value, bytes);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulDescGetAttribute(LtMatmul* matmul, int attribute, void* value,
                                                       size_t bytes, size_t* written) {
    return get(matmul, matmul_fields, attribute, value, bytes, written);
}

ATTNSCOPE_EXPORT Status cublasLtMatmulPreferenceInit_internal(LtPreference* preference, size_t size) {
    return initialise(preference, size);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulPreferenceCreate(LtPreference** preference) {
    return create(preference);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulPreferenceDestroy(LtPreference* preference) {
    return destroy(preference);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulPreferenceSetAttribute(LtPreference* preference, int attribute,
                                                             const void* value, size_t bytes) {
    return set(preference, preference_fields, attribute, value, bytes);
}
ATTNSCOPE_EXPORT Status cublasLtMatmulPreferenceGetAttribute(LtPreference* preference, int attribute,
                                                             void* value, size_t bytes, size_t* written) {
    return get(preference, preference_fields, attribute, value, bytes, written);
}
