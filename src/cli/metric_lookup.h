#pragma once
// What `attnscope metrics` shows: the catalogue on a chip, asked of CUPTI's host side.
#include <string>
#include <utility>
#include <vector>

#include "attnscope/counter_host.h"
#include "attnscope/metrics.h"

namespace attnscope::cli {

struct RoleOnChip {
    const MetricRole* role;
    std::string formula;             ///< the alternative that this chip has; empty: none
    std::vector<std::string> names;  ///< of the formula
    std::string absent;              ///< why there is none
};

struct SetOnChip {
    std::string set;
    std::vector<RoleOnChip> roles;
    CounterPlan plan;
};

struct ChipSets {
    std::string chip;
    std::vector<SetOnChip> sets;
    std::string refused;  ///< why CUPTI refuses this chip; empty: it does not
};

/// Sets of the catalogue on the chips: those named, else on all that CUPTI lists.
std::vector<ChipSets> sets_on(const CounterHost& host, const std::vector<std::string>& chips,
                              const std::vector<std::string>& sets);

/// Passes of the default set beside those of Nsight Compute's sets and sections.
struct Comparison {
    struct Row {
        std::string name;  ///< "set full", "section Occupancy"
        size_t asked = 0;  ///< names in its list, of all architectures
        CounterPlan plan;
    };
    std::string chip;
    CounterPlan core;
    std::vector<Row> rows;
};
std::vector<Comparison> compare_sets(const CounterHost& host, const std::vector<std::string>& chips);

}  // namespace attnscope::cli
