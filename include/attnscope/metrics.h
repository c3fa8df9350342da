#pragma once
// The metric catalogue (src/data/metrics.tsv): what attnscope asks the hardware, by role. A role's value is a
// formula over vendor names; alternatives are tried in order, because chips name the same thing differently.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnscope/value.h"

namespace attnscope {

struct MetricRole {
    std::string role;                   ///< "achieved_occupancy"
    std::string title;                  ///< "achieved occupancy"
    std::vector<std::string> sets;      ///< "core", "tensor", "memory", "stalls"
    Unit unit = Unit::none;             ///< of the formula's result
    std::vector<std::string> formulas;  ///< alternatives, in order: "dram__bytes_read.sum"
    std::string meaning;                ///< one sentence
    /// Chips on which no alternative resolves, and why. Held by a test against CUPTI itself.
    std::vector<std::pair<std::string, std::string>> absent;

    const std::string* absent_on(std::string_view chip) const;  ///< the reason; nullptr: it is there
};

/// In the table's order, which is the order of display.
const std::vector<MetricRole>& metric_catalogue();
const MetricRole* find_metric_role(std::string_view role);  ///< nullptr when there is none
std::vector<std::string> metric_sets();                     ///< "core", "tensor", ...

/// The vendor names in a formula, each once, in order.
std::vector<std::string> vendor_names(std::string_view formula);

/// The first alternative of which every vendor name is known (to a chip); nullptr: none.
const std::string* formula_of(const MetricRole& role, const std::function<bool(const std::string&)>& known);

/// A vendor metric's value where the run has one.
using MetricLookup = std::function<std::optional<double>(std::string_view vendor_name)>;

/// The first alternative whose names all have values. `text` is the formula with its values, as law 3 wants
/// it: "100 x lts__t_sectors_lookup_hit.sum 5 / lts__t_sectors.sum 20". nullopt: none; also where the result
/// is not finite.
struct MetricResult {
    double value;
    std::string text;
};
std::optional<MetricResult> evaluate(const MetricRole& role, const MetricLookup& lookup);

/// A section of Nsight Compute with the counters that it collects (src/data/nsight_sections.tsv), for
/// comparison.
struct ProfilerSection {
    std::string section;               ///< "SpeedOfLight"
    std::vector<std::string> sets;     ///< "basic", "detailed", "full"
    std::vector<std::string> metrics;  ///< of all architectures
};
const std::vector<ProfilerSection>& nsight_sections();

/// Names that are nearest to `name` by edit distance and common parts, best first: what an error offers.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       size_t count = 3);

}  // namespace attnscope
