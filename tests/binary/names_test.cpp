// Names as LibTorch 2.11, cuBLAS and Triton write them (public traces and the wheel's cubins).
#include <gtest/gtest.h>

#include "attnscope/names.h"

namespace attnscope {
namespace {

TEST(ShortName, Flash) {
    EXPECT_EQ(
        short_kernel_name(
            "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
            "cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, "
            "false, false, true, true, false, false>(pytorch_flash::Flash_fwd_params)"),
        "flash_fwd_kernel<64,128,128,4> causal");
    EXPECT_EQ(
        short_kernel_name(
            "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<256, 64, 64, 4, "
            "false, "
            "false, cutlass::half_t, pytorch_flash::Flash_kernel_traits<256, 64, 64, 4, cutlass::half_t> >, "
            "true, false, true, false, true, true, false, false>(pytorch_flash::Flash_fwd_params)"),
        "flash_fwd_kernel<256,64,64,4> dropout local");
    EXPECT_EQ(
        short_kernel_name(
            "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, "
            "false, "
            "cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 4, cutlass::bfloat16_t> >, true, false, "
            "false, false, false, false, false, true>(pytorch_flash::Flash_fwd_params)"),
        "flash_fwd_splitkv_kernel<128,64,128,4> causal");
}

TEST(ShortName, Efficient) {
    EXPECT_EQ(short_kernel_name(
                  "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::"
                  "bfloat16_t, cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)"),
              "fmha_cutlassF_bf16_aligned_64x64_rf_sm80");
}

TEST(ShortName, TheOperationInsideAtensWrappers) {
    EXPECT_EQ(
        short_kernel_name(
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
            "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
            "3ul>)"),
        "elementwise: add");
    EXPECT_EQ(
        short_kernel_name(
            "void at::native::elementwise_kernel<128, 4, "
            "at::native::gpu_kernel_impl_nocast<at::native::(anonymous "
            "namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}>(int)"),
        "elementwise: masked_fill");
    EXPECT_EQ(short_kernel_name("void at::native::elementwise_kernel<128, 4, "
                                "at::native::gpu_kernel_impl<at::native::BinaryFunctor<"
                                "c10::BFloat16, c10::BFloat16, c10::BFloat16, "
                                "at::native::binary_internal::MulFunctor<float> > > >"),
              "elementwise: mul");
    EXPECT_EQ(short_kernel_name(
                  "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
                  "TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul>, 4>(int)"),
              "elementwise: copy");
    EXPECT_EQ(short_kernel_name("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<bool, "
                                "at::native::func_wrapper_t<bool, "
                                "at::native::and_kernel_cuda(at::TensorIterator&)::{lambda()#1}> > >(int)"),
              "reduce: and");
}

TEST(ShortName, EverythingElse) {
    EXPECT_EQ(short_kernel_name(
                  "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 11, "
                  "false, "
                  "true>(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*, int, bool)"),
              "softmax_warp_forward");
    EXPECT_EQ(
        short_kernel_name(
            "void "
            "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(cutlass_80_"
            "tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8::Params)"),
        "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8");
    EXPECT_EQ(short_kernel_name("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas"),
              "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas");
    EXPECT_EQ(short_kernel_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
    EXPECT_EQ(short_kernel_name(""), "");
}

TEST(Demangle, RealNames) {
    EXPECT_EQ(demangle("_Z3addPfS_"), "add(float*, float*)");
    EXPECT_EQ(demangle("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
}

// libstdc++ gives up at 1,024 characters; the identifiers still tell.
TEST(ShortName, FromAMangledNameThatIsTooLong) {
    std::string name =
        "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastIZZZNS0_12_GLOBAL__N_"
        "117where_kernel_implERNS_14TensorIteratorE";
    name.append(2000, 'E');
    EXPECT_EQ(short_kernel_name(demangle(name)), "elementwise: where");
}

std::string reference(size_t i) {
    const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (i == 0) return "S_";
    std::string text;
    for (--i;; i = i / 36 - 1) {
        text.insert(text.begin(), digits[i % 36]);
        if (i < 36) break;
    }
    return "S" + text + "_";
}

TEST(Hostile, AShortNameThatStandsForTerabytes) {
    std::string name = "_Z1f1XIiiE";
    for (size_t level = 1; level < 60; ++level) name += "S_I" + reference(level) + reference(level) + "E";
    EXPECT_EQ(demangle(name), name) << "left as it is";
    EXPECT_LE(short_kernel_name(demangle(name)).size(), 96U);
}

TEST(Hostile, ControlCharactersLengthAndNesting) {
    EXPECT_EQ(short_kernel_name("a\x1b[2Jb\n\xff"), "a?[2Jb??");
    EXPECT_EQ(demangle(std::string("_Z1f\0i", 6)), "f") << "ends at the zero";
    EXPECT_LE(short_kernel_name(std::string(5000000, 'a')).size(), 96U);
    EXPECT_LE(short_kernel_name(std::string(5000000, '<')).size(), 96U);
    EXPECT_LE(short_kernel_name("f<" + std::string(60000, '(')).size(), 96U);
    EXPECT_LE(demangle("_Z" + std::string(1000000, 'P')).size(), 1U << 16);
    EXPECT_LE(demangle("_Z99999999999999999999f").size(), 64U);
    EXPECT_LE(short_kernel_name("_Z" + std::string(300000, '9')).size(), 96U);
}

}  // namespace
}  // namespace attnscope
