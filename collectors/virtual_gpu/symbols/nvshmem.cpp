// NVSHMEM: initialisation is refused (NVSHMEMX_ERROR_NOT_SUPPORTED). What returns a pointer returns none, and
// what asks whether the library is initialised hears that it is not.
#include <cstddef>

#include "core/api.h"
#include "symbols/export.h"

using attnscope::vgpu::report_unsupported;

ATTNSCOPE_EXPORT int nvshmemid_init_status() {
    return 0;
}  // NVSHMEM_STATUS_NOT_INITIALIZED
ATTNSCOPE_EXPORT void nvshmemid_hostlib_finalize() {}
ATTNSCOPE_EXPORT void nvshmem_free(void*) {}

ATTNSCOPE_EXPORT void* nvshmem_malloc(size_t) {
    report_unsupported("NVSHMEM", "nvshmem_malloc");
    return nullptr;
}
ATTNSCOPE_EXPORT void* nvshmem_ptr(const void*, int) {
    report_unsupported("NVSHMEM", "nvshmem_ptr");
    return nullptr;
}
ATTNSCOPE_EXPORT void* nvshmemx_mc_ptr(int, const void*) {
    report_unsupported("NVSHMEM", "nvshmemx_mc_ptr");
    return nullptr;
}
ATTNSCOPE_EXPORT int nvshmem_team_n_pes(int) {
    report_unsupported("NVSHMEM", "nvshmem_team_n_pes");
    return -1;
}
/// The version of the OpenSHMEM specification that NVSHMEM follows, not that of the library.
ATTNSCOPE_EXPORT void nvshmem_info_get_version(int* major, int* minor) {
    if (major) *major = 1;
    if (minor) *minor = 3;
}
