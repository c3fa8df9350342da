#pragma once
// The marks by which a program says what it does (schema/README.md, "Names with a meaning").
#include <map>
#include <optional>
#include <string>

#include "attnscope/analysis.h"

namespace attnscope {

/// The content of one `attnscope.implementation` mark.
struct ImplementationMark {
    std::string name, status, reason, backend, compared_with;
    std::optional<double> peak_allocated, allocated_before, max_abs_difference, non_finite;
};

struct Marks {
    std::optional<Workload> workload;
    std::optional<Choice> choice;
    std::vector<ImplementationMark>
        implementations;      ///< in the order of their first mark; a later mark replaces
    uint64_t unreadable = 0;  ///< marks of ours that are not JSON objects
};
Marks read_marks(const Process& process);

}  // namespace attnscope
