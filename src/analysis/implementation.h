#pragma once
// One implementation's numbers from its launches.
#include "attnscope/analysis.h"
#include "counters.h"
#include "phases.h"
#include "workload.h"

namespace attnscope {

/// `title_suffix` tells processes apart (" (rank 1)"); `mark` is nullptr where the program said nothing.
Implementation analyze_phase(const Process& process, const Phase& phase, const ImplementationMark* mark,
                             const Marks& marks, const ProcessCounters& counters, Ground ground,
                             const std::string& title_suffix);

/// Launches without iterations: all of them, grouped.
Implementation analyze_group(const Process& process, const NamedLaunches& group,
                             const ProcessCounters& counters, Ground ground, const std::string& title_suffix);

/// An implementation of which there is only the mark (refused before it started).
Implementation from_mark(const Process& process, const ImplementationMark& mark, const Marks& marks,
                         const ProcessCounters& counters, Ground ground, const std::string& title_suffix);

}  // namespace attnscope
