#pragma once
// What attention must cost, from its shape and the GPU's figures alone: FLOPs, bytes, roofs, and the time
// that no implementation of a method can beat. Sources: FLOPs by the convention of Dao-AILab/flash-attention,
// benchmarks/benchmark_flash_attention.py; reads and writes are those of the kernels that LibTorch 2.11
// launches, counted one by one; exponentials as in the FlashAttention-3 paper (arXiv 2407.08608).
// Everything is a lower bound: it can say that an implementation cannot be faster than X, never that it is
// faster than another one.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/value.h"

namespace attnscope {

struct Gpu;

enum class Pass : uint8_t { forward, backward, both };

/// Counts and lengths in elements; finite and not negative. A length of zero is a problem of no work.
struct AttentionShape {
    double batch = 0, heads = 0, kv_heads = 0, query_length = 0, key_length = 0, head_dim = 0;
    std::string dtype;  ///< "bf16", "fp16", "fp32"
    bool causal = false;
    bool masked_fill = false;  ///< a boolean mask, or causal: hand-written attention fills the hidden scores
    bool additive_mask = false;  ///< a mask that is added
    Pass pass = Pass::forward;

    std::optional<double> element_bytes() const;  ///< nullopt: unknown dtype
    bool masked() const { return causal || masked_fill || additive_mask; }
};

/// How attention is computed, as far as the models tell ways apart.
enum class Method : uint8_t {
    unfused,        ///< two products and a softmax, nothing else: the least that writes scores to memory
    naive,          ///< product, scale, copy + mask (out of place), softmax, product
    naive_inplace,  ///< the same, masked in place
    math,           ///< LibTorch's math backend; 16-bit inputs are computed in fp32
    math_reduced,   ///< the same, kept in 16 bits (setAllowFP16BF16ReductionMathSDP)
    flash,
    efficient,
    cudnn,
};
const char* to_string(Method method);
std::optional<Method> method_of(std::string_view name);  ///< of to_string
bool is_fused(Method method);

/// The tile of a fused kernel, from its name (attnscope/kernel_name.h); its head dimension may be padded.
struct Tile {
    double queries = 0, keys = 0, head_dim = 0;
};

/// Peaks of one GPU that bounds are made of; absent with the reason where the table has none.
struct Roofs {
    std::string gpu;
    int major = 0;
    Value dram;           ///< bytes/s
    Value tensor;         ///< FLOP/s of the tensor cores in the problem's dtype, dense
    Value tf32;           ///< FLOP/s of the tensor cores in TF32, dense
    Value fp32;           ///< FLOP/s of the CUDA cores
    Value exponentials;   ///< per second: MUFU rate per SM and clock x SMs x clock
    Value l2;             ///< bytes
    std::string assumed;  ///< "memory_clock_rate": figures in use for which no source could be found
};
Roofs roofs_of(const Gpu& gpu, std::string_view dtype, Ground ground);

/// One kernel of a method: what it moves and computes at least.
struct ModelKernel {
    std::string name;
    double score_read = 0, score_write = 0;  ///< bytes a score
    double read = 0, write = 0;              ///< bytes beside the scores
    double flops = 0, exponentials = 0;
    bool cuda_cores = false;  ///< its FLOPs run on the CUDA cores
    double bound = 0;         ///< ns: the longest of its three times; known in a Prediction
};

struct Prediction {
    Value useful_flops;     ///< the published convention: causal is half of the square
    Value executed_flops;   ///< what its kernels multiply: the whole square, or whole tiles
    Value least_bytes;      ///< q, k, v read once, o written once (backward: with the gradients)
    Value score_bytes;      ///< the score matrix through memory
    Value bytes;            ///< all that its kernels read and write, without caches
    Value dram_bytes;       ///< of these, what the L2 cannot keep: the least that reaches DRAM
    Value tile_bytes;       ///< fused, forward: tiles of q, k, v that its CTAs load into shared memory
    Value register_scores;  ///< fused, forward: scores that are in registers alone, fp32, tile by tile
    Value least_memory;     ///< peak of allocated bytes, at least: inputs, output and what must live at once
    bool l2_resident = false;
    std::string l2_note;     ///< "L2-resident: may not reach DRAM ..."; empty when the L2's size is not known
    Value intensity, ridge;  ///< FLOP/byte: useful FLOPs / bytes; roof / DRAM bandwidth
    Value roof;              ///< FLOP/s
    std::string roof_name;   ///< "bf16 tensor cores", "fp32 CUDA cores"
    Value memory_time, compute_time, exponential_time;  ///< ns, each alone
    Value bound;        ///< ns: the sum over its kernels, each of which takes the longest of the three
    std::string binds;  ///< "memory", "compute", "exponentials": what most of the bound is
    std::vector<ModelKernel> kernels;  ///< of one attention
};

/// `tile` is of the forward kernel. `tf32_products`: fp32 products are seen to use TF32.
Prediction predict(const AttentionShape& shape, Method method, const Roofs& roofs, Ground ground,
                   std::optional<Tile> tile = {}, bool tf32_products = false);

/// Useful FLOPs, and the least bytes of any implementation, without a method.
Value useful_flops(const AttentionShape& shape, bool fused, Ground ground);
Value least_bytes(const AttentionShape& shape, Ground ground);

struct RankEntry {
    std::string name;
    Value bound;            ///< ns
    Value time;             ///< ns, measured or cited; absent where there is none
    Value spread;           ///< ns; absent: not known
    std::string time_from;  ///< "measured", "published: ..."
};
/// A partial order. Bounds alone order nothing: a smaller bound is no faster program.
struct Rank {
    struct Group {
        std::vector<std::string> names;
        Value bound;
    };
    struct Faster {
        std::string first, second;
        std::string why;  ///< "0.147 ms (measured) is below the bound of ..."
    };
    std::vector<Group> groups;  ///< bounds rising; equal ones (within 1%) together; unknown ones left out
    std::vector<Faster> faster;
    std::string sentence;
};
Rank rank(const std::vector<RankEntry>& entries);

/// A time that somebody published (src/data/published.tsv), never measured by attnscope.
struct PublishedTime {
    std::string gpu;  ///< id in the GPU table
    Method method = Method::flash;
    std::string implementation;  ///< in the source's words: "SDPA flash", "Triton"
    AttentionShape shape;        ///< batch 0: the source does not give the whole shape, only the throughput
    bool causal_known = true;    ///< false: the shape is taken as causal, which gives the weaker bound
    std::optional<double> nanoseconds, flop_per_second;  ///< one of them
    std::string source;

    Value time(Ground ground = Ground::imported) const;  ///< ns; from FLOP/s by the convention
};
const std::vector<PublishedTime>& published_times();
/// Parses the table's text; throws Error with `origin` and the line.
std::vector<PublishedTime> parse_published(std::string_view text, const std::string& origin);

}  // namespace attnscope
