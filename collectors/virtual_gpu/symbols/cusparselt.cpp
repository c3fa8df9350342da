// cuSPARSELt: nothing is emulated. cusparseLtInit fails with CUSPARSE_STATUS_NOT_SUPPORTED and LibTorch tells
// it.
#include "symbols/answers.h"
#include "symbols/export.h"

namespace {
constexpr int version[3] = {0, 8, 0};
}

ATTNSCOPE_EXPORT int cusparseLtGetProperty(int type, int* value) {
    return attnscope::vgpu::version_property(version, type, value) ? 0 : 3;
}
