#pragma once
// When the launches of one iteration were on the GPU.
#include "times.h"

namespace attnscope {

/// Fills `timeline`, or says why not in `timeline_absent`: of the iteration whose GPU time is the median, a
/// lane for each stream, with a bounded number of blocks however many launches there are.
void set_timeline(Implementation& out, const Process& process, const std::vector<Sequence>& iterations);

/// Neighbours become one where the gap between them is shorter than `least`, and one of the two is or both
/// stand for several kinds already; or where they overlap: at most 2 x span / least + 1 are left. `blocks`
/// are in the order of their start.
std::vector<TimelineBlock> merge(const std::vector<TimelineBlock>& blocks, double least);

}  // namespace attnscope
