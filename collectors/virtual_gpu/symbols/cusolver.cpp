// cuSOLVER: creating a handle fails with CUSOLVER_STATUS_NOT_SUPPORTED, which torch.linalg raises as an
// error.
#include "symbols/answers.h"
#include "symbols/export.h"

namespace {
constexpr int version[3] = {12, 0, 4};
}

ATTNSCOPE_EXPORT int cusolverGetVersion(int* value) {
    if (!value) return 3;  // CUSOLVER_STATUS_INVALID_VALUE
    *value = 12004;
    return 0;
}
ATTNSCOPE_EXPORT int cusolverGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? 0 : 3;
}
