#include "collectors/virtual_gpu/core/library_call.h"

#include "collectors/virtual_gpu/core/capture.h"
#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/core/observer.h"
#include "collectors/virtual_gpu/core/stream.h"

namespace attnscope::vgpu {

void perform_library_call(const LibraryCall& call, const Issue& issue) {
    report_library_call(call, issue.correlation, issue.context->device->ordinal, issue.stream->id);
    for (const void* output : call.outputs) mark_uncomputed(output);
}

void issue_library_call(void* handle, LibraryCall call) {
    Stream* stream = nullptr;
    if (find_stream(static_cast<CUstream>(handle), stream) != CUDA_SUCCESS) {
        report("warning", "library-call-lost",
               std::string(call.function) + " was called with a stream that does not exist",
               "check the program's stream handling");
        return;
    }
    if (stream->capture.load(std::memory_order_acquire) != nullptr) {
        add_captured(*stream, LibraryNode{std::move(call)});
        return;
    }
    // Inside a runtime or driver call the number of that call would be shared with its records: a library
    // call has its own.
    perform_library_call(call, Issue{stream->context, stream, next_correlation(), 0, 0});
}

}  // namespace attnscope::vgpu
