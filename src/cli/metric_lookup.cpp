#include "metric_lookup.h"

#include <algorithm>
#include <map>
#include <set>

#include "attnscope/error.h"

namespace attnscope::cli {
namespace {

using NamesByChip = std::vector<std::pair<std::string, std::vector<std::string>>>;

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
    for (const std::string& name : more)
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

/// What each chip lacks of `names`; a chip that CUPTI refuses has an entry in `refused`.
NamesByChip unknown_names(const CounterHost& host, const std::vector<std::string>& chips,
                          const std::vector<std::string>& names,
                          std::vector<std::pair<std::string, std::string>>& refused) {
    if (chips.size() == 1) return {{chips[0], host.unknown(chips[0], names)}};
    UnknownByChip all = host.unknown_by_chip(names);
    const auto wanted = [&](const auto& entry) {
        return chips.empty() || std::find(chips.begin(), chips.end(), entry.first) != chips.end();
    };
    NamesByChip some;
    std::copy_if(all.chips.begin(), all.chips.end(), std::back_inserter(some), wanted);
    std::copy_if(all.refused.begin(), all.refused.end(), std::back_inserter(refused), wanted);
    return some;
}

SetOnChip set_on(const std::string& chip, const std::string& set, const std::set<std::string>& unknown) {
    SetOnChip on{set, {}, {}};
    for (const MetricRole& role : metric_catalogue()) {
        if (std::find(role.sets.begin(), role.sets.end(), set) == role.sets.end()) continue;
        RoleOnChip entry{&role, {}, {}, {}};
        const std::string* formula =
            formula_of(role, [&](const std::string& name) { return unknown.count(name) == 0; });
        if (formula != nullptr) {
            entry.formula = *formula;
            entry.names = vendor_names(*formula);
        } else {
            const std::string* why = role.absent_on(chip);
            entry.absent = why != nullptr ? *why : "the chip has none of its counters";
        }
        on.roles.push_back(std::move(entry));
    }
    return on;
}

std::vector<std::string> names_of(const SetOnChip& set) {
    std::vector<std::string> names;
    for (const RoleOnChip& role : set.roles) append(names, role.names);
    return names;
}

}  // namespace

std::vector<ChipSets> sets_on(const CounterHost& host, const std::vector<std::string>& chips,
                              const std::vector<std::string>& sets) {
    std::vector<std::string> names;
    for (const MetricRole& role : metric_catalogue())
        for (const std::string& formula : role.formulas) append(names, vendor_names(formula));
    std::vector<std::pair<std::string, std::string>> refused;
    std::vector<ChipSets> result;
    NamesByChip questions;
    for (const auto& [chip, unknown] : unknown_names(host, chips, names, refused)) {
        ChipSets on{chip, {}, {}};
        const std::set<std::string> lacks(unknown.begin(), unknown.end());
        for (const std::string& set : sets) {
            on.sets.push_back(set_on(chip, set, lacks));
            questions.emplace_back(chip, names_of(on.sets.back()));
        }
        result.push_back(std::move(on));
    }
    std::vector<CounterPlan> plans = host.plans(questions);
    size_t next = 0;
    for (ChipSets& on : result)
        for (SetOnChip& set : on.sets) set.plan = std::move(plans[next++]);
    for (const auto& [chip, why] : refused) result.push_back({chip, {}, why});
    return result;
}

std::vector<Comparison> compare_sets(const CounterHost& host, const std::vector<std::string>& chips) {
    // In the order of the sections' file: sets first, then single sections.
    NamesByChip lists;
    for (const ProfilerSection& section : nsight_sections())
        for (const std::string& set : section.sets) {
            const std::string name = "set " + set;
            auto entry =
                std::find_if(lists.begin(), lists.end(), [&](const auto& l) { return l.first == name; });
            if (entry == lists.end()) entry = lists.insert(lists.end(), {name, {}});
            append(entry->second, section.metrics);
        }
    for (const ProfilerSection& section : nsight_sections())
        lists.emplace_back("section " + section.section, section.metrics);

    std::vector<Comparison> result;
    NamesByChip questions;
    for (ChipSets& on : sets_on(host, chips, {"core"})) {
        if (!on.refused.empty()) continue;
        result.push_back({on.chip, std::move(on.sets[0].plan), {}});
        for (const auto& [name, metrics] : lists) questions.emplace_back(on.chip, metrics);
    }
    std::vector<CounterPlan> plans = host.plans(questions);
    size_t next = 0;
    for (Comparison& comparison : result)
        for (const auto& [name, metrics] : lists)
            comparison.rows.push_back({name, metrics.size(), std::move(plans[next++])});
    return result;
}

}  // namespace attnscope::cli
