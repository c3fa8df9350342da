#pragma once
// What the names of attention kernels hold: tile, head dimension, warps, flags. A name says what its author
// put there and nothing more: what it does not hold is absent, never guessed. Understood are
//     FlashAttention 2   flash_fwd_kernel, flash_fwd_splitkv_kernel, its combine kernel, flash_bwd_*; of
//     PyTorch
//                        (namespace pytorch_flash) and of flash-attn (flash, or none)
//     FlashAttention 3   cutlass::device_kernel<... flash::FlashAttnFwdSm90<...>>
//     memory-efficient   fmha_cutlassF_*, fmha_cutlassB_*
//     cuDNN              cudnn_generated_fort_native_sdpa_*
// Sources: Dao-AILab/flash-attention, kernel_traits.h and flash_*_launch_template.h as PyTorch 2.11 has them,
// hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp; PyTorch, kernels/cutlass{F,B}.h. cuDNN documents its names
// nowhere.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "attnscope/value.h"

namespace attnscope {

struct AttentionKernelName {
    enum class Library { flash2, flash3, efficient, cudnn };
    enum class Part {
        forward,
        split_forward,     ///< keys and values split over CTAs
        combine,           ///< merges the splits
        backward,          ///< dQ, dK, dV
        backward_dot,      ///< rowsum(dO * O), before the backward
        backward_convert,  ///< dQ from fp32 to the element type, after it
    };
    Library library = Library::flash2;
    Part part = Part::forward;
    std::string name_space;  ///< "pytorch_flash", "flash"; empty where there is none
    std::string element;     ///< "bf16", "f16", "f32", "e4m3"; empty where the name does not hold it. cuDNN's
                             ///< "f16" stands for every 16-bit type, so it is left out
    std::optional<int> sm;   ///< what the kernel was written for, not what it was compiled for

    std::optional<uint32_t> head_dim;    ///< the largest that it serves (its bucket); none: any
    std::optional<uint32_t> head_dim_v;  ///< of the values, where they differ or are named
    std::optional<uint32_t> block_queries, block_keys;  ///< the tile of one CTA
    std::optional<uint32_t> warps;                      ///< of a CTA

    std::optional<bool> dropout, causal, local, alibi, softcap;
    std::optional<bool> even_mn, even_k;   ///< no bounds checks: lengths, head dimension fit the tile
    std::optional<bool> returns_softmax;   ///< writes the dropped-out probabilities (debugging)
    std::optional<bool> split, append_kv;  ///< of split_forward: more than one split; new keys are appended
    std::optional<bool> varlen;

    // What the shared memory of FlashAttention 2 depends on besides the tile.
    std::optional<bool> shares_q_and_k, v_in_registers, single_buffer;

    // Memory-efficient attention.
    std::optional<bool> aligned;              ///< pointers and strides allow whole vectors
    std::optional<bool> output_in_registers;  ///< "rf"; false: "gmem", accumulated in global memory
    std::optional<bool> sequence_aligned;     ///< "seqaligned"

    // cuDNN: as its name writes them; their meaning is not documented (4x1x1 has been seen with 4 and 8
    // warps).
    std::string instruction;  ///< "wmma", "wgmma"; empty: not said
    std::optional<int> knob;
    std::string tile;         ///< "128x64x64"
    std::string warp_layout;  ///< "4x1x1"
    std::string cluster;      ///< "1x1x1"

    /// For a table: "64: 128x128, 4 warps" (head dimension: queries x keys); cuDNN's tile as it is written;
    /// empty where the name holds no tile.
    std::string tile_words() const;
};
const char* to_string(AttentionKernelName::Library library);  ///< "FlashAttention 2", ...
const char* to_string(AttentionKernelName::Part part);        ///< "forward", "split forward", ...

/// From a demangled or a mangled name; nullopt: no attention kernel that is known. Accepts anything.
std::optional<AttentionKernelName> attention_kernel_name(std::string_view name);

/// Dynamic shared memory that the kernel must be launched with, bytes a CTA, by FlashAttention 2's formulas
/// (kernel_traits.h), e = 2 bytes an element, D head dimension, M x N tile:
///     forward, split forward   e D (M + 2 N); with Q and K sharing: e max(D M, 2 D N)
///     backward                 e (3 D M + 2 D N + 2 M N); single buffer: 2 D M; V in registers:
///                              e (3 D M + max(2 D N, D N + 2 M N))
///     convert                  e D M
///     combine, dot             0
/// Missing, with the reason, for the other libraries: their sizes come out of unions that no name holds.
Value expected_shared_bytes(const AttentionKernelName& name);

/// One sentence when a launch's dynamic shared memory is not what the name asks for; nullopt: as expected, or
/// nothing is known.
std::optional<std::string> shared_bytes_differ(const AttentionKernelName& name, uint64_t launched_with);

}  // namespace attnscope
