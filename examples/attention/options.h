#pragma once
// What to compute: one attention problem, and which implementations of it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attention {

enum class Mask { none, boolean, additive };

struct Options {
    int64_t batch = 8;
    int64_t heads = 16;
    int64_t kv_heads = 0;  ///< 0: as many as heads; fewer: grouped-query attention
    int64_t query_length = 1024;
    int64_t key_length = 0;  ///< 0: as long as the queries
    int64_t head_dim = 64;
    std::string dtype = "bf16";
    bool causal = true;
    Mask mask = Mask::none;
    bool transposed = false;  ///< q, k, v are (B, S, H, D) in memory, as projections leave them
    bool backward = false;
    int warmup = 1;
    int iterations = 1;
    std::vector<std::string> only;  ///< empty: all
    bool choice_only = false;
    uint64_t seed = 0;

    bool grouped() const { return kv_heads != heads; }
};

/// Parses and checks. Throws std::invalid_argument with one sentence for an impossible problem; CLI::Error
/// for usage.
int parse(int argc, char** argv, Options& options, bool& stop);

/// The record that goes into the run: schema/README.md, `attnscope.workload`.
nlohmann::json describe(const Options& options);

}  // namespace attention
