#pragma once
// Which implementation, and which part of it, a launch belongs to: read from the NVTX ranges around it.
#include <string>
#include <vector>

#include "attnscope/run.h"

namespace attnscope {

/// One implementation of one process.
struct Phase {
    std::string name;
    std::vector<uint32_t>
        iterations;  ///< ranges, in the order of their ids: the order in which they were opened
    std::vector<std::vector<uint32_t>> launches;  ///< of each iteration: indices into Process::launches
    std::vector<uint32_t> outside;                ///< launches of it in no iteration: warm-up, set-up
    bool marked_iterations = true;  ///< false: the program marks none, all launches count as one iteration
    uint64_t cut_iterations = 0;    ///< left out: the run was cut in the middle of them
};

/// By `attnscope.implementation/NAME`, in the order in which they were opened; empty without such ranges.
std::vector<Phase> implementation_phases(const Process& process);

/// Without the convention: by name of the outermost range, then what lies in none; one entry when there are
/// no ranges.
struct NamedLaunches {
    std::string name;
    std::vector<uint32_t> launches;
    std::vector<uint32_t> ranges;  ///< the outermost ranges of that name; empty for what lies in none
};
std::vector<NamedLaunches> outermost_ranges(const Process& process);

}  // namespace attnscope
