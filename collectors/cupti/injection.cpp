// The library's two entries. The driver (or the virtual GPU) calls the first in cuInit, each NVTX instance
// calls the second.
#include <exception>

#include "nvtx.h"
#include "session.h"

#define ATTNSCOPE_ENTRY extern "C" __attribute__((visibility("default")))

ATTNSCOPE_ENTRY int InitializeInjection(void) {
    using attnscope::collector::Session;
    try {
        if (Session* session = Session::get()) session->start();
    } catch (const std::exception&) {
        // The program comes first: without a run, the launcher says so.
    }
    return 1;
}

ATTNSCOPE_ENTRY int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
    try {
        return attnscope::collector::attach_nvtx(get_export_table);
    } catch (const std::exception&) {
        return 1;
    }
}
