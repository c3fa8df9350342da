#pragma once
// The models (attnscope/models.h) for what a run holds.
#include "attnscope/analysis.h"
#include "attnscope/models.h"

namespace attnscope {

struct Gpu;

/// The shape that the program marked; nullopt when it did not.
std::optional<AttentionShape> shape_of(const Workload& workload);
/// nullopt: attnscope knows no model of it. Told by its name, its backend and its products.
std::optional<Method> method_of(const Implementation& implementation);
/// The tile of its forward kernel, from that kernel's name.
std::optional<Tile> tile_of(const Implementation& implementation);
/// Its line in the GPU table, by its id or else its name; nullptr: it has none.
const Gpu* known_gpu(const Device& device);
/// From the GPU table, with the figures that the device itself reported in their place.
Roofs roofs_of(const Device& device, const std::string& dtype, Ground ground);

/// Fills `prediction`, `least_bytes`, `score_bytes` and `flops` of an implementation. `device` may be null.
void set_models(Implementation& implementation, const Workload& workload, const Device* device,
                Ground ground);
/// Bound / time, percent: how much of what its roofs allow an implementation reaches. Absent, with a reason,
/// without a time or a bound.
Value share_of_bound(const Implementation& implementation);
Value share_of_bound(const Value& bound, const Value& time);
/// What somebody published for this shape on this GPU (src/data/published.tsv); absent: nobody there.
Value published_time(const Analysis& analysis, const Implementation& implementation);
/// The partial order of the implementations, with their own times, or published ones of the same shape and
/// GPU.
Rank rank_of(const Analysis& analysis);

}  // namespace attnscope
