#pragma once
// What attention was asked for: the calls of scaled_dot_product_attention that LibTorch was seen to get, else
// the shape that the workload marks. One view for the rules that look at shapes.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/analysis.h"
#include "attnscope/operation.h"

namespace attnscope::rule {

/// One attention. Counts and lengths in elements.
struct Asked {
    std::string who;      ///< title of the implementation; "the program" outside of all
    std::string backend;  ///< that computes it: "flash" ...; empty: written by hand, or not known
    double batch = 0, heads = 0, kv_heads = 0, query_length = 0, key_length = 0, head_dim = 0;
    std::string dtype;  ///< "bf16" ...
    bool causal = false, backward = false, dropout = false;
    std::optional<TensorInput> mask;
    const Implementation* implementation = nullptr;
    const AttentionCall* call = nullptr;  ///< where LibTorch's answer to it is known

    double element_bytes() const { return dtype_bytes(dtype); }
    double scores() const { return batch * heads * query_length * key_length; }
    double queries() const { return batch * heads * query_length * head_dim; }
    double keys() const { return batch * kv_heads * key_length * head_dim; }
    double repeated_keys() const { return batch * heads * key_length * head_dim; }
    bool grouped() const { return heads != kv_heads; }
};

/// Without duplicates; empty where no shape is known.
std::vector<Asked> asked(const Analysis& analysis);

/// nullptr: the choice says nothing of this backend.
const AttentionChoice::Backend* find_backend(const AttentionChoice& choice, std::string_view name);

/// Major and minor of a version's text: {2, 11} for "2.11.0+cu130".
std::optional<std::pair<int, int>> version_of(std::string_view text);
/// Of a library of the run, by the beginning of its name ("libcudnn", "cuDNN"); nullopt: not known.
std::optional<std::pair<int, int>> library_version(const Analysis& analysis, std::string_view name);

}  // namespace attnscope::rule
