#pragma once
// One kernel or one finding of a run, as a chain of reasons: a Report that holds nothing else, for the same
// renderers. Its numbers are those of the whole report.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/analysis.h"

namespace attnscope {

/// Each kernel of each implementation of which `matches` accepts the demangled or the short name: what
/// launched it, geometry, resources, occupancy and limiter, instructions, counters, the models' figures, and
/// the findings that speak of it. At most 50 kernels; the sentence says how many there are. Without a match
/// there are no sections.
Report explain_kernels(const Analysis& analysis, const std::function<bool(std::string_view)>& matches);

/// Short names of the run's kernels, each once, in the order of issue.
std::vector<std::string> kernel_names(const Analysis& analysis);

/// All findings of one rule, whole; of a rule that stayed silent, when it speaks. nullopt: there is no such
/// rule.
std::optional<Report> explain_finding(const Analysis& analysis, std::string_view rule);

/// The ids of all rules.
std::vector<std::string> rule_names();

}  // namespace attnscope
