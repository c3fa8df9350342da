#pragma once
// How long launches were on the GPU, and how far iterations differ.
#include "attnscope/analysis.h"

namespace attnscope {

/// Launches of one iteration, by their index in the process.
using Sequence = std::vector<uint32_t>;

/// Times of the program itself: none on a virtual GPU, and none under counters.
bool has_times(const Process& process, Ground ground);

/// ns; of a launch that has a start and an end.
double gpu_time(const Launch& launch);

/// Of one value an iteration, sorted.
Value interquartile_range(const std::vector<double>& sorted, Unit unit, const Provenance& provenance);

/// GPU time of each iteration, and of each step where the iterations are alike.
void set_times(Implementation& out, const Process& process, const std::vector<Sequence>& iterations,
               Ground ground);

}  // namespace attnscope
