#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "attnscope/error.h"
#include "attnscope/metrics.h"
#include "metric_table.h"

namespace attnscope {
namespace {

std::vector<MetricRole> load() {
    const char* path = std::getenv("ATTNSCOPE_METRICS");
    if (path == nullptr || *path == '\0')
        return metrics::parse_metric_table(metrics::kEmbeddedMetricTable, "metrics.tsv");
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file || text.empty())
        throw Error(std::string(path) + ": cannot be read (ATTNSCOPE_METRICS names it as the metric table)");
    return metrics::parse_metric_table(text, path);
}

}  // namespace

const std::vector<MetricRole>& metric_catalogue() {
    static const std::vector<MetricRole> catalogue = load();
    return catalogue;
}

const MetricRole* find_metric_role(std::string_view role) {
    for (const MetricRole& entry : metric_catalogue())
        if (entry.role == role) return &entry;
    return nullptr;
}

std::vector<std::string> metric_sets() {
    std::vector<std::string> sets;
    for (const MetricRole& entry : metric_catalogue())
        for (const std::string& set : entry.sets)
            if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
    return sets;
}

const std::string* MetricRole::absent_on(std::string_view chip) const {
    for (const auto& [name, reason] : absent)
        if (name == chip) return &reason;
    return nullptr;
}

}  // namespace attnscope
