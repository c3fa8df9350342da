#pragma once
// A program that ran twice, once for counters and once for time: the two collections become one.
#include "attnscope/run.h"

namespace attnscope::run_reader {

/// Pairs the processes of the two collections by rank, else by their order among those with launches. Where
/// the two of a pair launched the same kernels, one Process results: launches and times of the activity
/// collection, counters of the other. Where they did not, the counters collection alone stays, without times,
/// and a `collections-differ` diagnostic names the first difference: nothing is counted twice.
void join_collections(Run& run);

}  // namespace attnscope::run_reader
