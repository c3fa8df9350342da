#include "combine.h"

#include <algorithm>

#include "words.h"

namespace attnscope {
namespace {

/// The first of these that the process has; metrics.size() when it has none.
size_t first_of(const Process& process, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const auto found = std::find(process.metrics.begin(), process.metrics.end(), name);
        if (found != process.metrics.end()) return static_cast<size_t>(found - process.metrics.begin());
    }
    return process.metrics.size();
}

}  // namespace

Combined::Combined(const Process& process)
    : process_(process),
      metrics_(process.metrics.size()),
      weights_{{first_of(process, {"sm__cycles_active.avg", "sm__cycles_active.sum"})},
               {first_of(process, {"sm__cycles_elapsed.avg", "sm__cycles_elapsed.sum"})}} {}

Combined::Rule Combined::rule_of(std::string_view name) {
    if (name.ends_with(".sum") || name.ends_with(".avg")) return Rule::sum;
    // Cycles of another unit (memory, caches) are not those of the SM.
    const bool of_sm = name.starts_with("sm__") || name.starts_with("smsp__");
    const bool over_all = name.find(".avg.") != name.npos || name.find(".sum.") != name.npos;
    if (!of_sm || !over_all) return Rule::none;
    if (name.ends_with(".pct_of_peak_sustained_active") || name.ends_with(".per_cycle_active"))
        return Rule::by_active;
    if (name.ends_with(".pct_of_peak_sustained_elapsed") || name.ends_with(".per_cycle_elapsed"))
        return Rule::by_elapsed;
    return Rule::none;
}

const Combined::WeightSum* Combined::weight_of(Rule rule) const {
    if (rule != Rule::by_active && rule != Rule::by_elapsed) return nullptr;
    return &weights_[rule == Rule::by_active ? active : elapsed];
}

void Combined::add(uint32_t set, const std::string& reason) {
    ++parts_;
    std::vector<const CounterValue*> values(metrics_.size(), nullptr);
    if (set != kNone)
        for (const CounterValue& v : process_.counters[set]) values[v.metric] = &v;
    double weight[kWeights] = {};
    for (size_t w = 0; w < kWeights; ++w) {
        const size_t m = weights_[w].metric;
        if (m >= values.size() || !values[m] || !values[m]->value) continue;
        weight[w] = *values[m]->value;
        weights_[w].sum += weight[w];
        ++weights_[w].have;
    }
    for (size_t m = 0; m < values.size(); ++m) {
        Metric& metric = metrics_[m];
        if (!values[m] || !values[m]->value) {
            if (metric.lacks.empty()) metric.lacks = values[m] ? values[m]->absent : reason;
            continue;
        }
        metric.sum += *values[m]->value;
        for (size_t w = 0; w < kWeights; ++w) metric.weighted[w] += *values[m]->value * weight[w];
        ++metric.have;
    }
}

std::optional<double> Combined::value(size_t metric) const {
    if (metric >= metrics_.size() || parts_ == 0 || metrics_[metric].have < parts_) return std::nullopt;
    const Metric& m = metrics_[metric];
    if (parts_ == 1) return m.sum;
    const Rule rule = rule_of(process_.metrics[metric]);
    if (rule == Rule::sum) return m.sum;
    const WeightSum* weight = weight_of(rule);
    if (!weight || weight->have < parts_ || !(weight->sum > 0)) return std::nullopt;
    return m.weighted[rule == Rule::by_active ? active : elapsed] / weight->sum;
}

std::string Combined::why_not(size_t metric, const char* part) const {
    const Metric& m = metrics_[metric];
    const size_t lacking = parts_ - m.have;
    if (lacking > 0)
        return parts_ == 1 ? m.lacks
                           : words::number(double(lacking)) + " of " + words::plural(double(parts_), part) +
                                 " have no value: " + m.lacks;
    const std::string several = "not combined over " + words::plural(double(parts_), part) + ": ";
    const Rule rule = rule_of(process_.metrics[metric]);
    if (weight_of(rule))
        return several + "that needs sm__cycles_" + (rule == Rule::by_active ? "active" : "elapsed") +
               ".avg of each, above 0";
    return several + process_.metrics[metric] + " neither adds up nor is a share of an SM's cycles";
}

std::string Combined::how(const std::vector<size_t>& metrics, const char* part) const {
    if (parts_ < 2) return {};
    std::string over = " over " + words::plural(double(parts_), part);
    for (const size_t m : metrics)
        if (const WeightSum* weight = weight_of(rule_of(process_.metrics[m])))
            return "mean" + over + ", weighted by " + process_.metrics[weight->metric] + ": ";
    return "sum" + over + ": ";
}

}  // namespace attnscope
