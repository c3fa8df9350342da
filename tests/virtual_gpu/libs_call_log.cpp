// An injection library (CUDA_INJECTION64_PATH) that writes what the virtual GPU's observer hears into the
// file ATTNSCOPE_CALL_LOG, a line each: "call LIBRARY FUNCTION OPERATION key=value ...", "diagnostic CODE
// MESSAGE", "uncomputed CAUSE".
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "collectors/virtual_gpu/observer.h"

namespace {

FILE* output = nullptr;

void write_call(void*, const AttnscopeLibraryCall* call) {
    flockfile(output);
    std::fprintf(output, "call %s %s %s", call->library, call->function, call->operation);
    for (uint32_t i = 0; i < call->attribute_count; ++i) {
        const AttnscopeAttribute& a = call->attributes[i];
        if (a.text)
            std::fprintf(output, " %s=%s", a.name, a.text);
        else
            std::fprintf(output, " %s=%lld", a.name, static_cast<long long>(a.number));
    }
    std::fputs("\n", output);
    std::fflush(output);
    funlockfile(output);
}
void write_diagnostic(void*, const AttnscopeVgpuDiagnostic* diagnostic) {
    std::fprintf(output, "diagnostic %s %s\n", diagnostic->code, diagnostic->message);
    std::fflush(output);
}
void write_uncomputed(void*, const AttnscopeUncomputedRead* read) {
    std::fprintf(output, "uncomputed %s %s\n", read->cause, read->location ? read->location : "?");
    std::fflush(output);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    const char* path = std::getenv("ATTNSCOPE_CALL_LOG");
    auto set = reinterpret_cast<AttnscopeVgpuSetObserverFn>(dlsym(RTLD_DEFAULT, "attnscopeVgpuSetObserver"));
    if (!path || !set || !(output = std::fopen(path, "a"))) return 0;
    static AttnscopeVgpuObserver observer = {};
    observer.size = sizeof observer;
    observer.library_call = write_call;
    observer.diagnostic = write_diagnostic;
    observer.uncomputed_read = write_uncomputed;
    set(&observer);
    return 1;
}
