#pragma once
#include <string>

#include "attnscope/gate.h"
#include "attnscope/gate_turns.h"

namespace attnscope::cli {

/// `--before CMD --after CMD`: what is asked for.
struct TurnsRequest {
    std::string before, after;  ///< commands for a shell
    std::string device = "auto", output = "attnscope-gate";
    size_t repeat = 0;  ///< of each side; 0: kTimedRuns on a real GPU, 1 on a virtual one, which has no times
};
/// Enough to see 5 % among 50 times (tests/bench/gate_time.md).
inline constexpr size_t kTimedRuns = 10;

/// Collects the runs, before/1, after/1, after/2, ... in the output folder. The programs' standard output
/// goes to standard error: ours is the verdict's.
gate::Sides collect_in_turns(const TurnsRequest& request);

/// What the texts name, with secrets taken out of the commands.
gate::GateContext context_of(const TurnsRequest& request, const gate::Sides& sides);

/// The facts of a run that was collected, or of a profiler's file.
gate::GateFacts facts_of_run(const std::string& folder);

}  // namespace attnscope::cli
