// cuFFT: creating a plan fails with CUFFT_NOT_SUPPORTED, so that torch.fft raises instead of returning what
// nobody computed.
#include "symbols/answers.h"
#include "symbols/export.h"

namespace {
constexpr int version[3] = {12, 0, 0};
}

ATTNSCOPE_EXPORT int cufftGetVersion(int* value) {
    if (!value) return 4;  // CUFFT_INVALID_VALUE
    *value = 12000;
    return 0;
}
ATTNSCOPE_EXPORT int cufftGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? 0 : 4;
}
