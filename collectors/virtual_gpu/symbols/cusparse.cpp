// cuSPARSE: nothing is emulated; creating a handle fails, which LibTorch tells with the status' name. Names
// and versions as cuSPARSE 12.6.3 (the one that torch 2.11.0 asks for) answers them.
#include "symbols/answers.h"
#include "symbols/export.h"

namespace {
constexpr attnscope::vgpu::StatusName statuses[] = {{0, "CUSPARSE_STATUS_SUCCESS"},
                                                    {1, "CUSPARSE_STATUS_NOT_INITIALIZED"},
                                                    {2, "CUSPARSE_STATUS_ALLOC_FAILED"},
                                                    {3, "CUSPARSE_STATUS_INVALID_VALUE"},
                                                    {4, "CUSPARSE_STATUS_ARCH_MISMATCH"},
                                                    {5, "CUSPARSE_STATUS_MAPPING_ERROR"},
                                                    {6, "CUSPARSE_STATUS_EXECUTION_FAILED"},
                                                    {7, "CUSPARSE_STATUS_INTERNAL_ERROR"},
                                                    {8, "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED"},
                                                    {9, "CUSPARSE_STATUS_ZERO_PIVOT"},
                                                    {10, "CUSPARSE_STATUS_NOT_SUPPORTED"},
                                                    {11, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"}};
constexpr attnscope::vgpu::StatusName texts[] = {
    {0, "success"},        {1, "initialization error"},     {3, "invalid value"},
    {7, "internal error"}, {10, "operation not supported"}, {11, "insufficient resources"}};
constexpr int version[3] = {12, 6, 3};
}  // namespace

ATTNSCOPE_EXPORT const char* cusparseGetErrorName(int status) {
    return attnscope::vgpu::status_name(statuses, status, "unrecognized error code");
}
ATTNSCOPE_EXPORT const char* cusparseGetErrorString(int status) {
    return attnscope::vgpu::status_name(texts, status, cusparseGetErrorName(status));
}
ATTNSCOPE_EXPORT int cusparseGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? 0 : 3;
}
ATTNSCOPE_EXPORT int cusparseGetVersion(void* handle, int* value) {
    if (!handle) return 1;
    if (!value) return 3;
    *value = 12603;
    return 0;
}
