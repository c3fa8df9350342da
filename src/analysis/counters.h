#pragma once
// Counter values of one process -> roles of the metric catalogue, for a kernel, an iteration or a range.
#include <string>
#include <vector>

#include "attnscope/analysis.h"
#include "attnscope/metrics.h"
#include "combine.h"

namespace attnscope {

/// The catalogue's roles and those that are derived from them, in the order of display.
const std::vector<MetricRole>& all_roles();

/// Roles that the run holds values for, and those of the main table in any case.
std::vector<const MetricRole*> roles_of(const Run& run);

class ProcessCounters {
  public:
    ProcessCounters(const Run& run, const Process& process, std::vector<const MetricRole*> roles);

    using Launches = std::vector<uint32_t>;

    /// All kernels among these launches together.
    std::vector<Measured> of_launches(const Launches& launches) const { return of_iterations({launches}); }
    /// Each iteration's kernels together; then the median over the iterations that have all.
    std::vector<Measured> of_iterations(const std::vector<Launches>& iterations) const;
    /// The n-th launch of each iteration.
    std::vector<Measured> of_step(const std::vector<Launches>& iterations, size_t n) const;
    /// Range modes: the same for ranges, each of which is an iteration, or a part of one sum.
    std::vector<Measured> of_ranges(const std::vector<uint32_t>& ranges, bool together) const;
    /// The same reason for all.
    std::vector<Measured> none(const std::string& reason) const;

    bool has_ranges() const { return has_ranges_; }

  private:
    /// One iteration.
    struct Sums {
        Combined kernels;  ///< or ranges
        size_t copies = 0, library_calls = 0;
    };
    Sums sums_of(const Launches& launches) const;
    Sums sums_of_ranges(const std::vector<uint32_t>& ranges) const;
    std::vector<Measured> over(const std::vector<Sums>& iterations, const char* part) const;
    std::optional<MetricResult> value(size_t role, const Sums& sums, const char* part,
                                      std::string& absent) const;
    std::string why_uncounted(const Launch& launch) const;
    std::string why_no_values() const;
    std::string why_no_role(const MetricRole& role) const;
    size_t index_of(std::string_view metric) const;

    const Run& run_;
    const Process& process_;
    std::vector<const MetricRole*> roles_;
    /// By role: the vendor metrics of the first alternative that is here, as indices; empty: none is.
    std::vector<std::vector<size_t>> collected_;
    bool has_ranges_ = false;
    std::string no_values_;  ///< why the process has none at all; empty when it has some
};

/// Why the program's own time is not known although launches are: it ran under counters.
std::string no_time_under_counters(const Process& process);

}  // namespace attnscope
