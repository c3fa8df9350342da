// cuRAND's host API: LibTorch links the library and calls none of it (its generators are device code). cuRAND
// has no "not supported" status: its stubs return CURAND_STATUS_INTERNAL_ERROR (999) and a diagnostic names
// the function.
#include "symbols/answers.h"
#include "symbols/export.h"

namespace {
constexpr int version[3] = {10, 4, 0};
}

ATTNSCOPE_EXPORT int curandGetVersion(int* value) {
    if (!value) return 104;  // CURAND_STATUS_OUT_OF_RANGE
    *value = 10400;
    return 0;
}
ATTNSCOPE_EXPORT int curandGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? 0 : 104;
}
