// NCCL 2.28.9: no communicator can be made (ncclInvalidUsage); the reason is in ncclGetLastError, which
// LibTorch prints.
#include "symbols/answers.h"
#include "symbols/export.h"

namespace {
constexpr attnscope::vgpu::StatusName texts[] = {
    {0, "no error"},
    {1, "unhandled cuda error (run with NCCL_DEBUG=INFO for details)"},
    {2, "unhandled system error (run with NCCL_DEBUG=INFO for details)"},
    {3, "internal error - please report this issue to the NCCL developers"},
    {4, "invalid argument (run with NCCL_DEBUG=WARN for details)"},
    {5, "invalid usage (run with NCCL_DEBUG=WARN for details)"},
    {6, "remote process exited or there was a network error"},
    {7, "NCCL operation in progress"}};
}

ATTNSCOPE_EXPORT const char* ncclGetErrorString(int result) {
    return attnscope::vgpu::status_name(texts, result, "unknown result code");
}
ATTNSCOPE_EXPORT const char* pncclGetErrorString(int result) {
    return ncclGetErrorString(result);
}

ATTNSCOPE_EXPORT const char* ncclGetLastError(void*) {
    return "collectives are not emulated on attnscope's virtual GPU";
}
ATTNSCOPE_EXPORT const char* pncclGetLastError(void* communicator) {
    return ncclGetLastError(communicator);
}

ATTNSCOPE_EXPORT int ncclGetVersion(int* version) {
    if (!version) return 4;  // ncclInvalidArgument
    *version = 22809;
    return 0;
}
ATTNSCOPE_EXPORT int pncclGetVersion(int* version) {
    return ncclGetVersion(version);
}
ATTNSCOPE_EXPORT void ncclResetDebugInit() {}
ATTNSCOPE_EXPORT void pncclResetDebugInit() {}
