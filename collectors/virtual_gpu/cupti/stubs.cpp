// What is exported but not emulated (unsupported.def). No header with the functions' real declarations is
// included: arguments that a function does not look at need not be named in C's calling convention.
#include <cupti_result.h>

#include <string>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/result.h"

using attnscope::vgpu::report;
using attnscope::vgpu::report_unsupported;
using attnscope::vgpu::cupti::answer;

#define EXPORTED extern "C" __attribute__((visibility("default")))

#define ABSENT(name)                              \
    EXPORTED CUptiResult name(void) {             \
        ATTNSCOPE_FAULT_POINT;                    \
        report_unsupported("CUPTI", #name);       \
        return answer(CUPTI_ERROR_NOT_SUPPORTED); \
    }
#define LEGACY(name)                                              \
    EXPORTED CUptiResult name(void) {                             \
        ATTNSCOPE_FAULT_POINT;                                    \
        report_unsupported("CUPTI", #name);                       \
        return answer(CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED); \
    }
#define NO_COUNTERS(name)                                                                                   \
    EXPORTED CUptiResult name(void) {                                                                       \
        ATTNSCOPE_FAULT_POINT;                                                                              \
        report("warning", "no-counters", #name " was called: a virtual GPU has no hardware counters",       \
               "run on a real GPU for counters; names, passes and properties of metrics are there without " \
               "one");                                                                                      \
        return answer(CUPTI_ERROR_NOT_SUPPORTED);                                                           \
    }
#include "unsupported.def"

// NVTX's own loader calls these; 0 says that nobody listens.
#define NO_NVTX(name)                       \
    EXPORTED int name(const void*) {        \
        report_unsupported("CUPTI", #name); \
        return 0;                           \
    }
NO_NVTX(InitializeInjectionNvtx)
NO_NVTX(InitializeInjectionNvtx2)
NO_NVTX(InitializeInjectionNvtxExtension)
