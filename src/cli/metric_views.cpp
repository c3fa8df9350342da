#include "metric_views.h"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <map>
#include <sstream>

#include "attnscope/error.h"
#include "attnscope/names.h"
#include "kernel_table.h"
#include "metric_json.h"

namespace attnscope::cli {
namespace {

constexpr size_t kMostFound = 40;

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool has_all_words(const MetricRole& role, const std::string& words) {
    const std::string text = lower(role.role + " " + role.title + " " + role.meaning);
    std::istringstream list(lower(words));
    for (std::string word; list >> word;)
        if (text.find(word) == std::string::npos) return false;
    return true;
}

std::string padded(const std::string& text, size_t width) {
    return text + std::string(width - std::min(width, text.size()), ' ');
}

/// Words filled into lines of the terminal's width behind an indentation.
void fill(const std::string& text, size_t indent) {
    const size_t width = terminal_width();
    std::istringstream words(text);
    std::string line(indent, ' ');
    for (std::string word; words >> word;) {
        if (line.size() > indent && line.size() + 1 + word.size() > width) {
            std::cout << line << '\n';
            line.assign(indent, ' ');
        }
        if (line.size() > indent) line += ' ';
        line += word;
    }
    std::cout << line << '\n';
}

/// counted(2, "pass") -> "2 passes"
std::string counted(size_t number, const std::string& one) {
    return grouped(number) + " " + one + (number == 1 ? "" : one.ends_with('s') ? "es" : "s");
}

std::string passes_words(const CounterPlan& plan) {
    if (plan.passes == 0) return "nothing to collect";
    return counted(plan.passes, "pass") + (plan.passes == 1 ? ", no replay" : ": needs --replay");
}

void show_role(const RoleOnChip& on) {
    const std::string unit = to_string(on.role->unit);
    std::cout << on.role->role << ": " << on.role->title << (unit.empty() ? "" : " [" + unit + "]") << '\n';
    fill(on.absent.empty() ? on.formula : "not on this chip: " + on.absent, 4);
    fill(on.role->meaning, 4);
}

void show_chip(const ChipSets& on, bool roles) {
    if (!on.refused.empty()) throw Error(on.refused);
    const uint32_t cupti = on.sets.empty() ? 0 : on.sets[0].plan.cupti;
    std::cout << on.chip << ", by CUPTI " << cupti << "'s planner\n";
    for (const SetOnChip& set : on.sets) {
        std::cout << '\n'
                  << set.set << ": " << counted(set.plan.metrics.size(), "counter") << ", "
                  << passes_words(set.plan) << '\n';
        for (const RoleOnChip& role : set.roles) {
            if (roles) {
                show_role(role);
                continue;
            }
            const std::string unit = to_string(role.role->unit);
            std::cout << "  " << padded(role.role->role, 26) << padded(unit, 7)
                      << (role.absent.empty() ? role.role->title : "not on this chip") << '\n';
        }
    }
    if (!roles)
        std::cout << "\nCounters and meaning: attnscope metrics --set NAME; all of CUPTI's: --search WORD\n";
}

void show_all_chips(const std::vector<ChipSets>& chips) {
    std::cout << "passes by chip (core is what --counters core collects)\n\n" << padded("chip", 7);
    const auto first =
        std::find_if(chips.begin(), chips.end(), [](const ChipSets& c) { return !c.sets.empty(); });
    if (first != chips.end())
        for (const SetOnChip& set : first->sets) std::cout << ' ' << set.set;
    std::cout << '\n';
    std::map<std::string, std::string> absent;  // "role: why" -> chips
    for (const ChipSets& on : chips) {
        if (on.sets.empty()) continue;
        std::cout << padded(on.chip, 7);
        for (const SetOnChip& set : on.sets) {
            std::cout << ' ' << padded(std::to_string(set.plan.passes), set.set.size());
            for (const RoleOnChip& role : set.roles) {
                if (role.absent.empty()) continue;
                std::string& where = absent[role.role->role + " (" + role.absent + ")"];
                if (!where.ends_with(" " + on.chip)) where += " " + on.chip;
            }
        }
        std::cout << '\n';
    }
    if (!absent.empty()) std::cout << "\nnot on every chip\n";
    for (const auto& [role, where] : absent) fill(role + ":" + where, 2);
    for (const ChipSets& on : chips)
        if (!on.refused.empty()) fill(on.refused, 2);
}

}  // namespace

Found search_metrics(const CounterHost& host, const std::string& chip, const std::string& words) {
    Found found{chip, {}, host.metrics(chip, words)};
    for (ChipSets& on : sets_on(host, {chip}, metric_sets()))
        for (SetOnChip& set : on.sets)
            for (RoleOnChip& role : set.roles) {
                const bool again = std::any_of(found.roles.begin(), found.roles.end(),
                                               [&](const RoleOnChip& r) { return r.role == role.role; });
                if (!again && has_all_words(*role.role, words)) found.roles.push_back(std::move(role));
            }
    if (found.roles.empty() && found.metrics.empty())
        throw Error("no metric of " + chip + " has \"" + printable(words) + "\" in its name or description");
    return found;
}

void show(const std::vector<ChipSets>& chips, bool roles, Format format) {
    if (format == Format::json)
        print_json(to_json(chips));
    else if (chips.size() == 1)
        show_chip(chips[0], roles);
    else
        show_all_chips(chips);
}

void show(const std::vector<Comparison>& chips, Format format) {
    if (format == Format::json) return print_json(to_json(chips));
    std::cout << "passes of --counters core beside those of Nsight Compute's sets and sections, by\n"
                 "the same planner; source counters, rooflines and memory tables left out, so\n"
                 "theirs are lower bounds\n";
    for (const Comparison& one : chips) {
        std::cout << '\n'
                  << padded(one.chip, 40) << "passes  ratio\n  " << padded("core", 38)
                  << padded(std::to_string(one.core.passes), 8) << "1\n";
        for (const Comparison::Row& row : one.rows) {
            std::cout << "  " << padded(row.name, 38) << padded(std::to_string(row.plan.passes), 8);
            if (one.core.passes != 0)
                std::cout << static_cast<double>(row.plan.passes) / static_cast<double>(one.core.passes);
            std::cout << '\n';
        }
    }
}

void show(const Passes& passes, Format format) {
    if (format == Format::json) return print_json(to_json(passes));
    std::cout << passes.plan.chip << ": " << counted(passes.plan.metrics.size(), "counter") << ", "
              << passes_words(passes.plan) << " (CUPTI " << passes.plan.cupti << ")\n";
    for (const std::string& name : passes.plan.metrics) std::cout << "  " << name << '\n';
    for (const auto& [name, why] : passes.absent) fill("not collected: " + name + ": " + why, 2);
    for (const std::string& name : passes.plan.apart)
        fill("not collected: " + name + ": CUPTI refuses it beside the others; ask for it alone", 2);
}

void show(const Found& found, Format format) {
    if (format == Format::json) return print_json(to_json(found));
    if (!found.roles.empty()) std::cout << "roles\n";
    for (const RoleOnChip& role : found.roles) show_role(role);
    if (found.metrics.empty()) return;
    std::cout << (found.roles.empty() ? "" : "\n") << counted(found.metrics.size(), "metric") << " of "
              << found.chip << " in CUPTI\n";
    for (size_t i = 0; i < std::min(found.metrics.size(), kMostFound); ++i) {
        const VendorMetric& metric = found.metrics[i];
        std::cout << metric.name << ": " << metric.kind
                  << (metric.unit.empty() ? "" : " [" + metric.unit + "]") << '\n';
        if (!metric.description.empty()) fill(printable(metric.description), 4);
        if (found.metrics.size() > 3) continue;
        std::string rollups = "roll-ups:";
        for (const std::string& rollup : metric.submetrics) rollups += " " + rollup;
        fill(rollups, 4);
    }
    if (found.metrics.size() > kMostFound)
        std::cout << "... and " << grouped(found.metrics.size() - kMostFound)
                  << " more: give more words, or --format json\n";
}

}  // namespace attnscope::cli
