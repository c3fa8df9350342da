// Names of attention kernels. Right values: facts/attention.md 1.5 and 1.6, public profiles, the names in
// libtorch_cuda.so 2.11.0.
#include "attnscope/kernel_name.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "attnscope/binary.h"
#include "attnscope/names.h"

namespace attnscope {
namespace {

using Name = AttentionKernelName;

Name read(const std::string& name) {
    const auto found = attention_kernel_name(name);
    EXPECT_TRUE(found) << name;
    return found.value_or(Name{});
}

std::string flash(const std::string& kernel, const std::string& traits, const std::string& flags) {
    return "void pytorch_flash::" + kernel + "<Flash_" + (kernel.starts_with("flash_bwd") ? "bwd" : "fwd") +
           "_kernel_traits<" + traits +
           ", cutlass::bfloat16_t, Flash_kernel_traits<1, 2, 3, 4, cutlass::bfloat16_t> >" + flags +
           ">(pytorch_flash::Flash_params)";
}

TEST(KernelName, FlashForward) {
    const Name name = read(flash("flash_fwd_kernel", "64, 128, 128, 4, false, false",
                                 ", false, true, false, false, true, true, false, false"));
    EXPECT_EQ(name.library, Name::Library::flash2);
    EXPECT_EQ(name.part, Name::Part::forward);
    EXPECT_EQ(name.name_space, "pytorch_flash");
    EXPECT_EQ(name.element, "bf16");
    EXPECT_EQ(name.head_dim, 64U);
    EXPECT_EQ(name.block_queries, 128U);
    EXPECT_EQ(name.block_keys, 128U);
    EXPECT_EQ(name.warps, 4U);
    EXPECT_EQ(name.dropout, false);
    EXPECT_EQ(name.causal, true);
    EXPECT_EQ(name.even_mn, true);
    EXPECT_EQ(name.returns_softmax, false);
    EXPECT_FALSE(name.split) << "not in this kernel's name";
    EXPECT_EQ(name.tile_words(), "64: 128x128, 4 warps");
}

TEST(KernelName, FlashSplitKvAndCombine) {
    const Name split = read(flash("flash_fwd_splitkv_kernel", "128, 64, 128, 4, false, false",
                                  ", true, false, false, false, true, false, true, false"));
    EXPECT_EQ(split.part, Name::Part::split_forward);
    EXPECT_EQ(split.causal, true);
    EXPECT_EQ(split.even_k, true);
    EXPECT_EQ(split.split, true);
    EXPECT_EQ(split.append_kv, false);
    EXPECT_FALSE(split.dropout);
    const Name combine =
        read(flash("flash_fwd_splitkv_combine_kernel", "128, 64, 128, 4, false, false", ", 4, 7, false"));
    EXPECT_EQ(combine.part, Name::Part::combine);
    EXPECT_FALSE(combine.causal) << "4, 7, false are no flags";
}

TEST(KernelName, FlagsOfAnotherVersionAreAbsent) {
    const Name name =
        read(flash("flash_fwd_kernel", "64, 128, 128, 4, false, false", ", false, true, false"));
    EXPECT_EQ(name.head_dim, 64U);
    EXPECT_FALSE(name.causal);
}

// As Nsight Systems demangles it (a recorded run: head dimension 128 on two GPUs).
TEST(KernelName, NsightsDemangling) {
    const Name name = read(
        "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64, (int)4, (bool)0, "
        "(bool)0, "
        "cutlass::bfloat16_t, Flash_kernel_traits<(int)128, (int)128, (int)64, (int)4, "
        "cutlass::bfloat16_t>>, "
        "(bool)0, (bool)0, (bool)0, (bool)0, (bool)0, (bool)1, (bool)0, (bool)0>(flash::Flash_fwd_params)");
    EXPECT_EQ(name.name_space, "flash");
    EXPECT_EQ(name.block_keys, 64U);
    EXPECT_EQ(name.causal, false);
    EXPECT_EQ(name.even_k, true);
    EXPECT_FALSE(shared_bytes_differ(name, 65536)) << "what that run recorded";
}

TEST(KernelName, Mangled) {
    const Name name = read(
        "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_"
        "traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass10"
        "bfloat16_tE19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_EELb0ELb1ELb0ELb0ELb1ELb1ELb0ELb0EEEvNS_"
        "16Flash_"
        "fwd_paramsE");
    EXPECT_EQ(name.tile_words(), "64: 128x128, 4 warps");
    EXPECT_EQ(name.causal, true);
}

TEST(KernelName, FlashAttention3) {
    const Name name = read(
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
        "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, "
        "cute::tuple<cute::C<128>, cute::C<176>, cute::C<192> >, 128, cutlass::bfloat16_t, float, "
        "cutlass::arch::Sm90, true, false, false, true, false, false, false, true, true, false, false, "
        "false>, "
        "flash::CollectiveEpilogueFwd<cute::tuple<cute::C<128>, cute::C<128>, cute::C<176> > > > > >(int)");
    EXPECT_EQ(name.library, Name::Library::flash3);
    EXPECT_EQ(name.sm, 90);
    EXPECT_EQ(name.block_queries, 128U);
    EXPECT_EQ(name.block_keys, 176U);
    EXPECT_EQ(name.head_dim, 192U);
    EXPECT_EQ(name.head_dim_v, 128U);
    EXPECT_EQ(name.causal, true);
    EXPECT_EQ(name.varlen, true);
    EXPECT_FALSE(name.warps) << "not in the name";
    EXPECT_FALSE(expected_shared_bytes(name));
}

TEST(KernelName, MemoryEfficient) {
    const Name forward = read(
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_"
        "t, "
        "cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)");
    EXPECT_EQ(forward.library, Name::Library::efficient);
    EXPECT_EQ(forward.element, "bf16");
    EXPECT_EQ(forward.block_queries, 64U);
    EXPECT_EQ(forward.block_keys, 64U);
    EXPECT_EQ(forward.head_dim, 64U);
    EXPECT_EQ(forward.aligned, true);
    EXPECT_EQ(forward.output_in_registers, true);
    EXPECT_EQ(forward.sm, 80);
    EXPECT_FALSE(forward.causal) << "a parameter, not in the name";
    EXPECT_FALSE(forward.warps);
    EXPECT_FALSE(read("fmha_cutlassF_f16_notaligned_32x128_gmem_sm75").head_dim);
    EXPECT_EQ(read("fmha_cutlassF_f16_notaligned_32x128_gmem_sm75").output_in_registers, false);
    EXPECT_EQ(read("fmha_cutlassF_f16_notaligned_32x128_gmem_sm75").aligned, false);
    const Name backward = read("fmha_cutlassB_f32_aligned_128x64_k96_dropout_seqaligned_sm80");
    EXPECT_EQ(backward.part, Name::Part::backward);
    EXPECT_EQ(backward.head_dim, 96U);
    EXPECT_EQ(backward.dropout, true);
    EXPECT_EQ(backward.sequence_aligned, true);
    EXPECT_FALSE(read("fmha_cutlassB_f16_aligned_64x64_k65536_sm80").head_dim) << "65536: any";
    EXPECT_EQ(read("fmha_cutlassB_f16_aligned_64x64_k65536_sm80").dropout, false);
}

TEST(KernelName, Cudnn) {
    const Name ampere = read(
        "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_6_128x64x64_4x1x1_cga1x1x1_kernel0_"
        "0");
    EXPECT_EQ(ampere.library, Name::Library::cudnn);
    EXPECT_EQ(ampere.part, Name::Part::forward);
    EXPECT_EQ(ampere.sm, 80);
    EXPECT_EQ(ampere.instruction, "wmma");
    EXPECT_EQ(ampere.knob, 6);
    EXPECT_EQ(ampere.tile, "128x64x64");
    EXPECT_EQ(ampere.warp_layout, "4x1x1");
    EXPECT_EQ(ampere.cluster, "1x1x1");
    EXPECT_FALSE(ampere.warps) << "the blog measured 8 warps";
    EXPECT_EQ(ampere.element, "") << "the blog ran bf16";
    const Name hopper =
        read("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_1x4x1_cga1x1x1");
    EXPECT_EQ(hopper.part, Name::Part::backward);
    EXPECT_EQ(hopper.instruction, "wgmma");
    const Name blackwell = read("cudnn_generated_fort_native_sdpa_sm100_flash_fprop_f16_knob_36");
    EXPECT_EQ(blackwell.sm, 100);
    EXPECT_EQ(blackwell.tile, "");
    EXPECT_EQ(blackwell.tile_words(), "");
}

TEST(KernelName, OthersAreNone) {
    for (const char* name :
         {"", "sgemm", "void cutlass::Kernel2<cutlass_80_tensorop_bf16>", "flash_fwd_kernel",
          "flash_fwd_kernel(float*)", "void flash_fwd_kernel<64, 32>(float*)", "fmha_reduce_head",
          "cudnn_generated_fort_native_sdpa_sm80", "softmax_warp_forward<1>", "fmha_cutlassF_"})
        EXPECT_FALSE(attention_kernel_name(name)) << name;
}

struct Tile {
    const char* kernel;
    const char* traits;
    uint64_t bytes;
};

class SharedBytes : public testing::TestWithParam<Tile> {};

TEST_P(SharedBytes, AsTheFactsSay) {
    const Name name = read(flash(GetParam().kernel, GetParam().traits, ""));
    const Value value = expected_shared_bytes(name);
    ASSERT_TRUE(value) << value.absent;
    EXPECT_EQ(*value.number, static_cast<double>(GetParam().bytes)) << value.formula;
    EXPECT_FALSE(shared_bytes_differ(name, GetParam().bytes));
    EXPECT_TRUE(shared_bytes_differ(name, GetParam().bytes + 1));
}

// The table of 1.6 (KiB there), the split-KV rows, the backward: 147,456 B (public Nsight Compute: "147 KB"),
// and its thresholds: 144 KB for head dimension 128, 176 KB for 256 with two buffers, 136 KB for 192.
INSTANTIATE_TEST_SUITE_P(
    Facts, SharedBytes,
    testing::Values(Tile{"flash_fwd_kernel", "32, 128, 128, 4, false, false", 24 << 10},
                    Tile{"flash_fwd_kernel", "64, 128, 128, 4, false, false", 48 << 10},
                    Tile{"flash_fwd_kernel", "96, 128, 64, 4, false, false", 48 << 10},
                    Tile{"flash_fwd_kernel", "128, 128, 64, 4, false, false", 64 << 10},
                    Tile{"flash_fwd_kernel", "128, 128, 32, 4, false, false", 48 << 10},
                    Tile{"flash_fwd_kernel", "128, 64, 64, 4, false, false", 48 << 10},
                    Tile{"flash_fwd_kernel", "192, 128, 64, 8, false, false", 96 << 10},
                    Tile{"flash_fwd_kernel", "256, 128, 64, 8, false, false", 128 << 10},
                    Tile{"flash_fwd_kernel", "256, 64, 64, 4, false, false", 96 << 10},
                    Tile{"flash_fwd_splitkv_kernel", "64, 64, 256, 4, false, false", 72 << 10},
                    Tile{"flash_fwd_splitkv_kernel", "128, 64, 128, 4, false, false", 80 << 10},
                    Tile{"flash_fwd_splitkv_kernel", "256, 64, 64, 4, false, false", 96 << 10},
                    Tile{"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
                         "64, 128, 128, 8, 4, 4, 4, false, false", 147456},
                    Tile{"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
                         "128, 64, 128, 8, 2, 4, 2, false, false", 147456},
                    Tile{"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
                         "192, 64, 64, 8, 4, 2, 2, false, false", 136 << 10},
                    Tile{"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
                         "256, 64, 64, 8, 4, 2, 2, false, false", 176 << 10},
                    Tile{"flash_bwd_convert_dq_kernel", "128, 64, 128, 8, 2, 4, 2, false, false", 16 << 10},
                    Tile{"flash_bwd_dot_do_o_kernel", "128, 64, 128, 8, 2, 4, 2, false, false", 0}));

TEST(SharedBytesWords, SayTheFormula) {
    const Name name = read(flash("flash_fwd_kernel", "64, 128, 128, 4, false, false", ""));
    EXPECT_EQ(shared_bytes_differ(name, 65536),
              "launched with 65536 bytes of dynamic shared memory; its tile needs 49152 (2 * 64 * (128 + 2 * "
              "128))");
    const Value none = expected_shared_bytes(read("fmha_cutlassF_bf16_aligned_64x64_rf_sm80"));
    EXPECT_EQ(none.absent, "the name does not hold the layout of shared memory");
    EXPECT_FALSE(shared_bytes_differ(read("fmha_cutlassF_bf16_aligned_64x64_rf_sm80"), 1));
}

// The formula and the warps against what LibTorch's own host code launches.
TEST(SharedBytesOfLaunches, AreWhatTheTileNeeds) {
    const char* root = std::getenv("ATTNSCOPE_SOURCE_DIR");
    std::ifstream file(std::string(root != nullptr ? root : ".") + "/tests/sass/fixtures/flash_launches.tsv");
    std::map<std::string, size_t> parts;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream columns(line);
        uint64_t bytes = 0;
        uint32_t threads = 0;
        std::string kernel;
        columns >> bytes >> threads >> kernel;
        const Name name = read(kernel);
        EXPECT_EQ(expected_shared_bytes(name).number, static_cast<double>(bytes)) << kernel;
        EXPECT_FALSE(shared_bytes_differ(name, bytes)) << kernel;
        EXPECT_EQ(name.warps.value_or(0) * 32, threads) << kernel;
        ++parts[to_string(name.part)];
    }
    EXPECT_EQ(parts.size(), 6U) << "every part is among them";
    EXPECT_GE(parts["backward"], 15U);
    EXPECT_GE(parts["forward"], 15U);
}

// Every attention kernel of the wheel is understood, and its flags are all there.
TEST(KernelName, OfLibTorch) {
    const char* root = std::getenv("ATTNSCOPE_TORCH_ROOT");
    const std::string library = std::string(root != nullptr ? root : "") + "/lib/libtorch_cuda.so";
    if (!std::filesystem::exists(library)) GTEST_SKIP() << "no LibTorch with CUDA (ATTNSCOPE_TORCH_ROOT)";
    std::map<std::string, size_t> parts;
    std::set<std::string> tiles;
    for (const KernelResources& kernel : read_kernels(library, 9, 0).kernels) {
        const bool efficient = kernel.name.find("fmha_cutlass") != std::string::npos;
        if (!efficient && kernel.name.find("pytorch_flash") == std::string::npos) {
            EXPECT_FALSE(attention_kernel_name(kernel.name)) << kernel.name;
            continue;
        }
        const auto found = attention_kernel_name(kernel.name);
        ASSERT_TRUE(found) << kernel.name;
        ++parts[std::string(to_string(found->library)) + " " + to_string(found->part)];
        EXPECT_NE(found->element, "") << kernel.name;
        EXPECT_TRUE(found->block_queries && found->block_keys) << kernel.name;
        if (efficient) {
            EXPECT_TRUE(found->sm && found->aligned) << kernel.name;
            continue;
        }
        EXPECT_TRUE(found->head_dim && found->warps) << kernel.name;
        EXPECT_TRUE(expected_shared_bytes(*found)) << kernel.name;
        if (found->part == Name::Part::forward) {
            tiles.insert(found->tile_words());
            EXPECT_TRUE(found->causal && found->dropout && found->even_mn && found->returns_softmax)
                << kernel.name;
        }
        if (found->part == Name::Part::split_forward) {
            EXPECT_TRUE(found->split && found->append_kv) << kernel.name;
        }
        if (found->part == Name::Part::backward) {
            EXPECT_TRUE(found->causal && found->softcap) << kernel.name;
        }
    }
    // Counted in the wheel's names with grep.
    EXPECT_EQ(parts["FlashAttention 2 forward"], 272U);
    EXPECT_EQ(parts["FlashAttention 2 split forward"], 320U);
    EXPECT_EQ(parts["FlashAttention 2 combine"], 336U);
    EXPECT_EQ(parts["FlashAttention 2 backward"], 332U);
    EXPECT_EQ(parts["FlashAttention 2 backward dot"], 104U);
    EXPECT_EQ(parts["FlashAttention 2 backward convert"], 52U);
    EXPECT_EQ(parts["memory-efficient attention forward"], 45U);
    EXPECT_EQ(parts["memory-efficient attention backward"], 162U);
    EXPECT_EQ(tiles.size(), 12U);
    EXPECT_TRUE(tiles.contains("64: 128x128, 4 warps"));
    EXPECT_TRUE(tiles.contains("128: 64x64, 4 warps")) << "sm_86 causal";
}

}  // namespace
}  // namespace attnscope
