// cuFile: CUfileError_t is a struct {CUfileOpError, CUresult} that comes back in one register, so that the
// stubs' plain 5008 is {CU_FILE_IO_NOT_SUPPORTED, CUDA_SUCCESS}. Reads and writes return a count, or minus
// the error.
#include <sys/types.h>

#include "core/api.h"
#include "symbols/export.h"

namespace {
constexpr ssize_t io_not_supported = 5008;
}

ATTNSCOPE_EXPORT ssize_t cuFileRead(void*, void*, size_t, off_t, off_t) {
    attnscope::vgpu::report_unsupported("cuFile", "cuFileRead");
    return -io_not_supported;
}
ATTNSCOPE_EXPORT ssize_t cuFileWrite(void*, const void*, size_t, off_t, off_t) {
    attnscope::vgpu::report_unsupported("cuFile", "cuFileWrite");
    return -io_not_supported;
}
