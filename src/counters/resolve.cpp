#include <algorithm>
#include <map>
#include <set>

#include "attnscope/counter_host.h"
#include "attnscope/error.h"
#include "attnscope/metrics.h"

namespace attnscope {
namespace {

std::vector<std::string> words_of(const std::string& request) {
    std::vector<std::string> words;
    for (size_t begin = 0; begin <= request.size();) {
        const size_t end = std::min(request.find(',', begin), request.size());
        std::string word = request.substr(begin, end - begin);
        word.erase(0, word.find_first_not_of(' '));
        word.erase(word.find_last_not_of(' ') + 1);
        if (!word.empty()) words.push_back(std::move(word));
        begin = end + 1;
    }
    return words;
}

std::vector<const MetricRole*> roles_of(const std::string& word) {
    std::vector<const MetricRole*> roles;
    for (const MetricRole& role : metric_catalogue())
        if (role.role == word || std::find(role.sets.begin(), role.sets.end(), word) != role.sets.end())
            roles.push_back(&role);
    return roles;
}

const char* usual_rollup(const std::string& kind) {
    if (kind == "ratio") return ".pct";
    return kind == "throughput" ? ".avg.pct_of_peak_sustained_elapsed" : ".sum";
}

/// What to offer instead of a name that CUPTI refuses.
std::vector<std::string> offers(const CounterHost& host, const std::string& chip, const std::string& name) {
    std::vector<VendorMetric> all = host.metrics(chip);
    // The longest base that begins the name; bases may hold dots themselves.
    const VendorMetric* base = nullptr;
    for (const VendorMetric& metric : all)
        if (name.starts_with(metric.name) &&
            (name.size() == metric.name.size() || name[metric.name.size()] == '.') &&
            (base == nullptr || metric.name.size() > base->name.size()))
            base = &metric;
    if (base != nullptr && name.size() <= base->name.size() + 1)
        return {base->name + usual_rollup(base->kind)};
    std::vector<std::string> candidates;
    if (base != nullptr) {
        for (const VendorMetric& metric : host.metrics(chip, base->name))
            if (metric.name == base->name)
                for (const std::string& rollup : metric.submetrics)
                    candidates.push_back(metric.name + rollup);
        return nearest_names(name, candidates);
    }
    for (const std::string& set : metric_sets()) candidates.push_back(set);
    for (const MetricRole& role : metric_catalogue()) candidates.push_back(role.role);
    // Bases are compared with the name's own roll-up, which mostly is right.
    const size_t dot = name.find('.');
    const std::string rollup = dot == std::string::npos ? std::string() : name.substr(dot);
    std::map<std::string, std::string> full;
    for (const VendorMetric& metric : all) {
        candidates.push_back(metric.name + rollup);
        full[metric.name + rollup] = metric.name + usual_rollup(metric.kind);
    }
    std::vector<std::string> nearest = nearest_names(name, candidates);
    const std::vector<std::string> refused = host.unknown(chip, nearest);
    for (std::string& candidate : nearest)
        if (full.count(candidate) != 0 &&
            std::find(refused.begin(), refused.end(), candidate) != refused.end())
            candidate = full[candidate];
    return nearest;
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
    return text;
}

/// A name that this chip refuses: absent where another chip has it, else an error.
std::string why_absent(const CounterHost& host, const std::string& chip, const std::string& name) {
    std::vector<std::string> others;
    for (const auto& [other, unknown] : host.unknown_by_chip({name}).chips)
        if (unknown.empty()) others.push_back(other);
    if (others.empty())
        throw Error("there is no metric \"" + name + "\"; the nearest are " +
                    joined(offers(host, chip, name), ", ") + " (attnscope metrics --chip " + chip +
                    " --search WORD lists all)");
    constexpr size_t kNamed = 6;
    const bool more = others.size() > kNamed;
    if (more) others.resize(kNamed);
    return chip + " has no such counter; " + joined(others, ", ") +
           (more                 ? " and others have it"
            : others.size() == 1 ? " has it"
                                 : " have it");
}

}  // namespace

ResolvedMetrics resolve_metrics(const CounterHost& host, const std::string& chip,
                                const std::string& request) {
    std::vector<const MetricRole*> roles;
    std::vector<std::string> names, asked;
    for (const std::string& word : words_of(request)) {
        const std::vector<const MetricRole*> found = roles_of(word);
        roles.insert(roles.end(), found.begin(), found.end());
        if (found.empty()) names.push_back(word);
    }
    if (roles.empty() && names.empty())
        throw Error("no metrics are named; give a set (" + joined(metric_sets(), ", ") +
                    ") or CUPTI's names, separated by commas");

    asked = names;
    for (const MetricRole* role : roles)
        for (const std::string& formula : role->formulas)
            for (std::string& name : vendor_names(formula)) asked.push_back(std::move(name));
    const std::vector<std::string> refused = host.unknown(chip, asked);
    const std::set<std::string> unknown(refused.begin(), refused.end());

    ResolvedMetrics resolved;
    std::set<std::string> taken;
    const auto take = [&](const std::string& name) {
        if (taken.insert(name).second) resolved.names.push_back(name);
    };
    for (const MetricRole* role : roles) {
        const std::string* formula =
            formula_of(*role, [&](const std::string& name) { return unknown.count(name) == 0; });
        if (formula != nullptr) {
            for (const std::string& name : vendor_names(*formula)) take(name);
            continue;
        }
        const std::string* reason = role->absent_on(chip);
        if (taken.insert(role->role).second)
            resolved.absent.emplace_back(role->role,
                                         reason != nullptr ? *reason : chip + " has none of its counters");
    }
    for (const std::string& name : names) {
        if (unknown.count(name) == 0)
            take(name);
        else if (taken.insert(name).second)
            resolved.absent.emplace_back(name, why_absent(host, chip, name));
    }
    return resolved;
}

}  // namespace attnscope
