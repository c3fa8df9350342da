// Attention kernels by their names, whoever wrote them. Sources: "sample": a file of the samples holds the
// name; else the project that defines the kernel.
#include <gtest/gtest.h>

#include "attnscope/analysis.h"
#include "attnscope/import.h"
#include "trace.h"

namespace attnscope::test {
namespace {

const Step& only_step(const Analysis& a) {
    EXPECT_EQ(a.implementations.size(), 1U);
    return a.implementations.at(0).steps.at(0);
}

Step step_of(const std::string& name) {
    std::string kernel = flash_kernel(1);
    kernel.replace(kernel.find("pytorch_flash::flash_fwd_kernel"), 31, name);
    return only_step(analyze(import_bytes(trace({kernel}))));
}

TEST(AttentionKernels, OfEveryFamilyAreKnown) {
    const std::pair<const char*, Role> families[] = {
        // LibTorch's three backends (samples).
        {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
         "false, "
         "false, cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)",
         Role::flash},
        {"void pytorch_flash::flash_fwd_splitkv_combine_kernel<>(pytorch_flash::Flash_fwd_params)",
         Role::flash_combine},
        {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<>::Params)",
         Role::efficient},
        {"fmha_cutlassB_f16_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<>::"
         "Params)",
         Role::efficient},
        {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_6_64x192x64_4x1x1_kernel0_0",
         Role::cudnn},
        // FlashAttention 2 and 1 (samples), 3 and 4 (Dao-AILab/flash-attention: hopper/, flash_attn/cute/).
        {"void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4> >(Flash_fwd_params)",
         Role::flash},
        {"void fmha_fwd_loop_kernel<FMHA_kernel_traits<128, 32, 16, 1, 4, 8u, __half>, "
         "false>(FMHA_fprop_params)",
         Role::flash},
        {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
         "CollectiveMainloopFwdSm90<2> > > >(flash::FlashAttnFwdSm90<>::Params)",
         Role::flash},
        {"kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__tensor",
         Role::flash},
        // TensorRT-LLM (sample), its older fmha_v2, and decoding.
        {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", Role::flash},
        {"fmha_v2_flash_attention_bf16_64_128_S_q_paged_kv_128_causal_tma_ws_sm90_kernel", Role::flash},
        {"void tensorrt_llm::kernels::mmha::masked_multihead_attention_kernel<__half, 128>()", Role::flash},
        // FlashInfer (flashinfer/attention).
        {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<> >()", Role::flash},
        {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<2u, 16u>()", Role::flash},
        {"void flashinfer::mla::BatchMLAPagedAttentionKernel<flashinfer::mla::KernelTraits<> >()",
         Role::flash},
        // Triton's tutorial 06, Inductor's FlexAttention, vLLM and SGLang.
        {"_attn_fwd", Role::flash},
        {"_attn_bwd", Role::flash},
        {"triton_tem_fused_flex_attention_0", Role::flash},
        {"kernel_unified_attention_2d", Role::flash},
        {"_fwd_grouped_kernel_stage1", Role::flash},
        // AMD: AOTriton (sample), vLLM's paged attention (sample), Composable Kernel (ck_tile), AITER.
        {"attn_fwd", Role::flash},
        {"bwd_kernel_dk_dv", Role::flash},
        {"void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)", Role::flash},
        {"void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<> > >()",
         Role::flash},
        {"aiter::fmha_fwd_hd128_bf16_causal_rtne", Role::flash},
    };
    for (const auto& [name, role] : families) {
        SCOPED_TRACE(name);
        const Step step = step_of(name);
        EXPECT_EQ(step.role, role);
        EXPECT_TRUE(is_attention(step.role));
    }
}

TEST(AttentionKernels, WhatOnlySoundsLikeThemIsNone) {
    // From the samples: a cache that is filled, a convolution, an index, a quantisation; and a normalisation.
    for (const char* name :
         {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(int)",
          "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8", "create_flashinfer_kv_indices_triton",
          "void tensorrt_llm::kernels::quantize_with_block_size<32, true>(int)", "_layer_norm_fwd_kernel"}) {
        SCOPED_TRACE(name);
        EXPECT_FALSE(is_attention(step_of(name).role));
    }
}

TEST(AttentionKernels, TheBackendIsTheOperations) {
    const Analysis a = analyze(import_bytes(trace({
        event("cpu_op", "aten::scaled_dot_product_attention", "10", "100", R"("External id": 1)", "1", "9"),
        event("cpu_op", "aten::_scaled_dot_product_flash_attention", "20", "50", R"("External id": 2)", "1",
              "9"),
        event("cuda_runtime", "cudaLaunchKernel", "30", "5", R"("correlation": 77)", "1", "9"),
        flash_kernel(77, "500", R"(, "External id": 2)"),
    })));
    const Step& step = only_step(a);
    ASSERT_GE(step.origin.operations.size(), 2U);
    EXPECT_TRUE(step.origin.under("aten::_scaled_dot_product_flash_attention"));
    EXPECT_TRUE(step.origin.under("aten::scaled_dot_product_attention"));
}

}  // namespace
}  // namespace attnscope::test
