#pragma once
// Vendor metrics of several kernels, or of several ranges, as one.
#include <string>
#include <vector>

#include "attnscope/run.h"

namespace attnscope {

/// Amounts add up. A share of an SM's active (elapsed) cycles is the mean weighted by those: both parts of
/// the share add up, so this is what one kernel of all would have. Maxima and other ratios do not combine.
class Combined {
  public:
    explicit Combined(const Process& process);

    /// `set` is an index into Process::counters; with kNone, or where the set lacks a metric, `reason` says
    /// why.
    void add(uint32_t set, const std::string& reason);

    size_t parts() const { return parts_; }
    /// nullopt where a part has no value, or where they do not combine: see why_not.
    std::optional<double> value(size_t metric) const;
    /// `part` is what was added: "kernel".
    std::string why_not(size_t metric, const char* part) const;
    /// "sum over 3 kernels: ", "mean over 3 kernels, weighted by sm__cycles_active.avg: "; empty for one.
    std::string how(const std::vector<size_t>& metrics, const char* part) const;

  private:
    enum Weight : uint8_t { active, elapsed, kWeights };
    enum class Rule : uint8_t { sum, by_active, by_elapsed, none };
    struct Metric {
        double sum = 0, weighted[kWeights] = {};
        size_t have = 0;
        std::string lacks;  ///< why the first part without it has none
    };
    struct WeightSum {
        size_t metric;  ///< index; that of no metric when there is none
        double sum = 0;
        size_t have = 0;
    };
    static Rule rule_of(std::string_view name);
    const WeightSum* weight_of(Rule rule) const;

    const Process& process_;
    std::vector<Metric> metrics_;
    WeightSum weights_[kWeights];
    size_t parts_ = 0;
};

}  // namespace attnscope
