#pragma once
// Nsight Compute chooses a unit for each value ("Mbyte" beside "byte", "us" beside "nsecond") and separates
// thousands. CUPTI's own values are in bytes, nanoseconds, hertz, percent and counts: so are ours.
#include <optional>
#include <string>
#include <string_view>

namespace attnscope::importer {

/// "10,192,158,720" -> 10192158720; "12.5"; nullopt for "n/a", words and lists of instances.
std::optional<double> grouped_number(std::string_view text);

/// What a value in `unit` is multiplied with: "Mbyte" 1e6, "us" 1e3, "Ghz" 1e9, "Gbyte/s" 1e9, "%" 1.
double unit_scale(std::string_view unit);

/// "Gbyte/s" -> "byte/second": the unit without its scale, to tell values of one name apart.
std::string base_unit(std::string_view unit);

}  // namespace attnscope::importer
