#pragma once
// Shared by the models' files.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/models.h"

namespace attnscope::models {

std::string n(double value);  ///< a number in a formula
/// At most 2^64 - 1; a larger one is no figure that LibTorch could compute with.
bool fits(double value);
Value checked(double value, Unit unit, Provenance provenance, std::string formula);

double scores(const AttentionShape& shape);          ///< batch x heads x queries x keys
double query_elements(const AttentionShape& shape);  ///< of q, of o
double key_elements(const AttentionShape& shape);    ///< of k, of v

/// The kernels of one pass or both, in the order of issue. `element` is bytes of an element.
std::vector<ModelKernel> kernels_of(const AttentionShape& shape, Method method, double element);
/// "product w2, scale r2 w2, ...": what the kernels read and write of each score.
std::string score_steps(const std::vector<ModelKernel>& kernels);
double score_units(const std::vector<ModelKernel>& kernels);  ///< bytes a score, all kernels

/// Scores that causal masking leaves, of all: query i sees the first i keys, as is_causal of LibTorch.
double visible_share(const AttentionShape& shape);
/// Scores in the tiles that a fused kernel visits; whole tiles, none that the causal mask hides entirely. The
/// tile has a size.
double tiled_scores(const AttentionShape& shape, const Tile& tile);
/// Elements of q, k and v that its CTAs load for these tiles. FlashAttention 2 keeps a CTA's tile of q, and
/// loads k and v for each; PyTorch's memory-efficient kernel (kernel_forward.h: iterator_A of MM0) loads q
/// anew for each tile of k.
double tile_elements(const AttentionShape& shape, Method method, const Tile& tile);

/// Bytes that a prediction has by its kernels' model: where that gives up, all of them are absent.
inline std::array<Value*, 6> modelled_bytes(Prediction& p) {
    return {&p.score_bytes, &p.bytes, &p.dram_bytes, &p.tile_bytes, &p.register_scores, &p.least_memory};
}

extern const std::string_view kPublishedTable;

}  // namespace attnscope::models
