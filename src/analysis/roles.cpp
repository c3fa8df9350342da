#include <string_view>

#include "attnscope/analysis.h"

namespace attnscope {
namespace {

struct Pattern {
    std::string_view part;
    Role role;
};

// Parts of demangled names, most telling first: PyTorch's element-wise kernels carry the operation as a
// lambda's function. Seen in libtorch_cuda.so of torch 2.11.0 (cuobjdump -res-usage).
constexpr Pattern kPatterns[] = {
    {"splitkv_combine", Role::flash_combine},
    {"flash_fwd", Role::flash},
    {"flash_bwd", Role::flash},
    {"fmha_cutlass", Role::efficient},
    // Of other programs than LibTorch, as imported traces name them: FlashAttention 3 and 4; FlashAttention
    // 1, TensorRT-LLM, CUTLASS's examples, AITER and Composable Kernel (fmha); FlashInfer; Triton's own
    // attention, AOTriton and FlexAttention; vLLM and SGLang.
    {"FlashAttn", Role::flash},
    {"FlashAttention", Role::flash},
    {"flash_attn", Role::flash},
    {"fmha", Role::flash},
    {"Fmha", Role::flash},
    {"KVCacheKernel", Role::flash},
    {"PagedAttention", Role::flash},
    {"attn_fwd", Role::flash},
    {"attn_bwd", Role::flash},
    {"bwd_kernel_dk_dv", Role::flash},
    {"bwd_kernel_dq", Role::flash},
    {"bwd_kernel_fuse", Role::flash},
    {"flex_attention", Role::flash},
    {"paged_attention", Role::flash},
    {"unified_attention", Role::flash},
    {"multihead_attention_kernel", Role::flash},
    {"_fwd_grouped_kernel_stage", Role::flash},
    {"cudnn", Role::cudnn},
    {"isneginf", Role::isneginf},
    {"masked_fill", Role::mask},
    {"triu_tril", Role::mask_building},
    {"softmax", Role::softmax},
    {"SoftMax", Role::softmax},
    {"and_kernel", Role::all_reduce},
    {"where_kernel", Role::where},
    {"copy_kernel", Role::cast_or_copy},
    {"FillFunctor", Role::fill},
    {"MulFunctor", Role::scale},
    {"CUDAFunctor_add", Role::add},
    {"gemm", Role::gemm},
    {"cutlass_", Role::gemm},
    {"xmma", Role::gemm},
};

}  // namespace

Role role_of(std::string_view demangled) {
    for (const Pattern& pattern : kPatterns)
        if (demangled.find(pattern.part) != std::string_view::npos) return pattern.role;
    return Role::other;
}

bool is_attention(Role role) {
    return role == Role::flash || role == Role::flash_combine || role == Role::efficient ||
           role == Role::cudnn;
}

const char* to_string(Role role) {
    switch (role) {
        case Role::other:
            return "";
        case Role::flash:
            return "flash attention";
        case Role::flash_combine:
            return "flash, joining split keys";
        case Role::efficient:
            return "memory-efficient attention";
        case Role::cudnn:
            return "cuDNN";
        case Role::gemm:
            return "matrix product";
        case Role::softmax:
            return "softmax";
        case Role::mask:
            return "mask";
        case Role::mask_building:
            return "mask building";
        case Role::scale:
            return "scale";
        case Role::add:
            return "add";
        case Role::cast_or_copy:
            return "cast or copy";
        case Role::fill:
            return "fill";
        case Role::where:
            return "where";
        case Role::isneginf:
            return "NaN guard: is -inf?";
        case Role::all_reduce:
            return "NaN guard: all of a row?";
    }
    return "";
}

}  // namespace attnscope
