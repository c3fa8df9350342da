#pragma once
// The attention problem that the workloads compute: shared by `attnscope attention` and the LibTorch program,
// so that a wrong shape is refused before anything is started.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

/// `expanded` and `repeated` are boolean ones with a row of their own for each batch and head: as a view
/// without memory of its own, and as a copy.
enum class AttentionMask { none, boolean, additive, expanded, repeated };
const char* to_string(AttentionMask mask);  ///< "none", "bool", "additive", "expanded", "repeated"

/// Lengths and counts in elements. kv_heads and key_length of 0 mean "as many as heads", "as long as the
/// queries".
struct AttentionProblem {
    int64_t batch = 8;
    int64_t heads = 16;
    int64_t kv_heads = 0;
    int64_t query_length = 1024;
    int64_t key_length = 0;
    int64_t head_dim = 64;
    std::string dtype = "bf16";  ///< bf16, fp16, fp32
    bool causal = true;
    AttentionMask mask = AttentionMask::none;
    bool transposed = false;  ///< q, k, v are views of (batch, length, heads, dim), as projections leave them
    int64_t last_stride = 1;  ///< of q, k and v, in elements: 2 is every second element of a wider tensor
    bool contiguous = false;  ///< each iteration copies q, k and v to be contiguous first
    bool repeat_kv = false;   ///< each iteration repeats K and V by hand, instead of enable_gqa
    bool backward = false;
    double dropout = 0;          ///< probability
    int layers = 1;              ///< one after another in an iteration, each on the output of the one before
    bool deterministic = false;  ///< deterministic algorithms alone
    bool reduced_math = false;   ///< the math backend may stay in 16 bits
    int warmup = 1;
    int iterations = 1;
    std::vector<std::string> only;  ///< names of attention_implementations(); empty: all
    bool choice_only = false;       ///< only ask LibTorch what it would choose, and why not the others
    uint64_t seed = 0;

    bool grouped() const { return kv_heads != heads; }
    /// What is asked of LibTorch: not where K and V are repeated by hand.
    bool enable_gqa() const { return grouped() && !repeat_kv; }
};

/// "naive", "naive_inplace", "sdpa_math", "sdpa_efficient", "sdpa_flash", "sdpa_cudnn", "sdpa_auto"
const std::vector<std::string>& attention_implementations();

/// Fills in the defaults that follow from others; throws Error with one sentence for an impossible problem.
void complete(AttentionProblem& problem);

/// The problem as command-line options of the workloads.
std::vector<std::string> to_arguments(const AttentionProblem& problem);

/// Parses a workload's command line into `problem`, completed. Returns an exit code when the program should
/// end there (help, usage error: already said); throws Error for an impossible problem.
std::optional<int> parse_attention(int argc, char** argv, AttentionProblem& problem);

}  // namespace attnscope
