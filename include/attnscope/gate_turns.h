#pragma once
// Two programs, or one under two settings, run in turns, and the second held against the first. What changes
// slowly on a machine (heat, clocks, neighbours) then falls on both sides alike, which no stored baseline can
// offer to a time.
#include <cstddef>
#include <functional>
#include <vector>

#include "attnscope/baseline.h"

namespace attnscope::gate {

enum class Side { before, after };
const char* to_string(Side side);  ///< "before", "after"

/// before, after, after, before, before, after, ...: `repeat` of each, so that a steady drift adds up to the
/// same on both sides (for an even `repeat`; for an odd one to half a run's).
std::vector<Side> turns(size_t repeat);

/// Both sides, each of several runs.
struct Sides {
    Baseline before;
    GateFacts after;  ///< its `unusable`, `lost` and `throttled` are those of both sides, the side named
};

/// Makes the runs in their order; `run` makes the `number`th of its side, from 1. A run that no comparison
/// can be made with is the last one. Throws what `run` throws, and Error for 0 repetitions or where runs of
/// a side do not fit together (join in gate_facts.h).
Sides run_in_turns(size_t repeat, const std::function<GateFacts(Side side, size_t number)>& run);

}  // namespace attnscope::gate
