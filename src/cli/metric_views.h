#pragma once
// The answers of `attnscope metrics` as text and JSON.
#include <string>
#include <utility>
#include <vector>

#include "metric_lookup.h"

namespace attnscope::cli {

enum class Format { text, json };

struct Passes {
    CounterPlan plan;
    std::vector<std::pair<std::string, std::string>> absent;  ///< role or name, why
};

struct Found {
    std::string chip;
    std::vector<RoleOnChip> roles;
    std::vector<VendorMetric> metrics;
};
Found search_metrics(const CounterHost& host, const std::string& chip, const std::string& words);

/// `roles`: with every role's counters and meaning.
void show(const std::vector<ChipSets>& chips, bool roles, Format format);
void show(const std::vector<Comparison>& chips, Format format);
void show(const Passes& passes, Format format);
void show(const Found& found, Format format);

}  // namespace attnscope::cli
