#pragma once
// The text form of the metric catalogue: see the head of src/data/metrics.tsv.
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/metrics.h"

namespace attnscope::metrics {

extern const std::string_view kEmbeddedMetricTable, kEmbeddedNsightSections;

/// `origin` names the table in errors ("metrics.tsv, line 12: ..."). Throws Error.
std::vector<MetricRole> parse_metric_table(std::string_view text, const std::string& origin);

}  // namespace attnscope::metrics
