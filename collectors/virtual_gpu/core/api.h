#pragma once
// What the core offers to the facades beyond the CUDA driver API itself (which libcuda's stand-in exports).
// The runtime facade needs almost nothing from here: it is written against cuda.h.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attnscope/gpu.h"

#pragma GCC visibility push(default)  // the core hides all else
namespace attnscope::vgpu {

/// The virtual devices that the program sees (ATTNSCOPE_VIRTUAL_DEVICES after CUDA_VISIBLE_DEVICES), fixed at
/// first use.
size_t device_count();
const Gpu& device(int ordinal);
/// The device of the calling thread's current context, 0 when there is none.
int current_device();

/// Says once, and counts: a documented function that is not emulated was called. The facade then returns its
/// library's not-supported code.
void report_unsupported(const char* library, const char* function);
/// severity: "info", "warning", "error". Equal (code, message) pairs are counted, not repeated.
void report(const char* severity, const char* code, const std::string& message, const std::string& remedy);

/// While one lives, requests for a private driver table are refused without the "static-runtime" diagnostic:
/// NVIDIA's own NVRTC asks for one, from whichever thread, and does without it.
struct ExpectPrivateTableRequest {
    ExpectPrivateTableRequest();
    ~ExpectPrivateTableRequest();
    ExpectPrivateTableRequest(const ExpectPrivateTableRequest&) = delete;
    ExpectPrivateTableRequest& operator=(const ExpectPrivateTableRequest&) = delete;
};

struct Attribute {
    std::string name;
    std::string text;  ///< used when not empty
    int64_t number = 0;
};

/// A call into a library whose kernels only a real GPU's library would choose.
struct LibraryCall {
    const char* library;    ///< "cuBLAS"; string literals
    const char* function;   ///< "cublasGemmEx"
    const char* operation;  ///< "gemm"
    std::vector<Attribute> attributes;
    std::vector<const void*> outputs;  ///< device memory that it writes: its content becomes uncomputed
};

/// Records the call in the order of issue, tells the observer, marks the outputs uncomputed; on a capturing
/// stream it becomes a node of the graph instead, recorded at each launch of that graph. `stream` is a
/// CUstream (nullptr, legacy and per-thread handles included).
void issue_library_call(void* stream, LibraryCall call);

/// The mangled name of a CUfunction or CUkernel, for ApiScope's `symbol`; nullptr for anything else. Lives
/// for ever.
const char* kernel_name(const void* handle);

/// Content of device memory changed in an unknown way (by a kernel, a library).
void mark_uncomputed(const void* device_pointer);

/// A library was asked to leave a result in host memory (cublasSdot with a host pointer): the value was never
/// computed. Fills it as any uncomputed read is filled (zeros, or what the user named), counts it and tells
/// the observer. cause: the function, a string literal ("cublasSdot_v2").
void report_uncomputed_host_value(void* host, size_t bytes, const char* cause);

}  // namespace attnscope::vgpu
#pragma GCC visibility pop
