#pragma once
#include <nlohmann/json.hpp>

#include "metric_views.h"

namespace attnscope::cli {

using MetricJson = nlohmann::ordered_json;

MetricJson to_json(const std::vector<ChipSets>& chips);
MetricJson to_json(const std::vector<Comparison>& chips);
MetricJson to_json(const Passes& passes);
MetricJson to_json(const Found& found);
void print_json(const MetricJson& json);

}  // namespace attnscope::cli
