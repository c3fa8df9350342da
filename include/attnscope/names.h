#pragma once
// Kernel names for people. The functions accept anything, also names from hostile files: they never throw,
// their results hold printable ASCII only, and their cost is bounded (a mangled name can stand for one that
// is exponentially longer).
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// "_ZN2at6native..." -> "void at::native::...". What is no mangled name, or too long to be one, comes back
/// as it is.
std::string demangle(std::string_view mangled);

/// What a table shows instead of a demangled name of up to thousands of characters, at most 96 characters:
/// - "flash_fwd_kernel<64,128,128,4> causal": head dimension, tile (queries, keys), warps; then what is on
/// - "fmha_cutlassF_bf16_aligned_64x64_rf_sm80"
/// - "elementwise: masked_fill", "reduce: sum": ATen's wrapper, then the operation inside it
/// - "cutlass_80_tensorop_bf16_s16816gemm_...": from cutlass::Kernel2<...>
/// - "softmax_warp_forward": else the function, without namespaces and arguments
///
/// Different kernels can share a short name; show the full one on demand.
std::string short_kernel_name(std::string_view demangled);

/// "a, b<c, d>, e" -> a | b<c, d> | e, without the spaces around them.
std::vector<std::string_view> split_arguments(std::string_view text);

/// Replaces what a terminal would act on (control characters, bytes outside of ASCII) by '?'.
std::string printable(std::string_view text);

}  // namespace attnscope
