#pragma once
#include <string_view>

namespace attnscope::importer {

/// CUPTI's (or Nsight Compute's own launch__...) name of what the details page calls `metric` in `section`.
/// One title means different things in different sections and units: "Memory Throughput" in % and in byte/s.
/// Empty for what has no name here.
std::string_view nsight_compute_name(std::string_view section, std::string_view metric,
                                     std::string_view base_unit);

}  // namespace attnscope::importer
