#include "phases.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace attnscope {
namespace {

constexpr std::string_view kImplementation = "attnscope.implementation/";
constexpr std::string_view kIteration = "attnscope.iteration";
constexpr size_t kMostGroups = 40;

/// For each range: its implementation's name-giving range, and its iteration; kNone where it is in none.
struct Place {
    uint32_t implementation = kNone, iteration = kNone;
};

std::vector<Place> places(const Process& process) {
    const auto& ranges = process.ranges;
    std::vector<Place> place(ranges.size());
    std::vector<bool> known(ranges.size());
    std::vector<uint32_t> walk;
    for (uint32_t i = 0; i < ranges.size(); ++i) {
        // Parents may come after their children in the file, and chains may be long: no recursion.
        for (uint32_t at = i; at != kNone && !known[at]; at = ranges[at].parent) walk.push_back(at);
        for (; !walk.empty(); walk.pop_back()) {
            const uint32_t at = walk.back();
            if (ranges[at].parent != kNone) place[at] = place[ranges[at].parent];
            if (ranges[at].name.rfind(kImplementation, 0) == 0)
                place[at] = {at, kNone};
            else if (ranges[at].name == kIteration && place[at].implementation != kNone)
                place[at].iteration = at;
            known[at] = true;
        }
    }
    return place;
}

}  // namespace

std::vector<Phase> implementation_phases(const Process& process) {
    const std::vector<Place> place = places(process);
    std::vector<Phase> phases;
    std::unordered_map<std::string, size_t> by_name;
    std::unordered_map<uint32_t, std::pair<size_t, size_t>> iteration_slot;  // range -> phase, position
    std::vector<uint32_t> order(process.ranges.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return process.ranges[a].id < process.ranges[b].id; });
    for (const uint32_t i : order) {
        if (place[i].implementation != i) continue;
        const std::string name = process.ranges[i].name.substr(kImplementation.size());
        if (by_name.emplace(name, phases.size()).second) phases.push_back({name, {}, {}, {}, true, 0});
    }
    const auto phase_of = [&](uint32_t range) {
        return by_name.at(process.ranges[place[range].implementation].name.substr(kImplementation.size()));
    };
    for (const uint32_t i : order) {
        if (place[i].iteration != i) continue;
        Phase& phase = phases[phase_of(i)];
        iteration_slot[i] = {phase_of(i), phase.iterations.size()};
        phase.iterations.push_back(i);
        phase.launches.emplace_back();
    }
    for (uint32_t l = 0; l < process.launches.size(); ++l) {
        uint32_t range = process.launches[l].range;
        // A thread range around the whole program (a profiler's, a framework's) does not hide the process
        // range in it.
        const uint32_t later = process.launches[l].process_range;
        if (later != kNone && (range == kNone || place[range].implementation == kNone)) range = later;
        if (range == kNone || place[range].implementation == kNone) continue;
        const size_t phase = phase_of(range);
        if (place[range].iteration == kNone)
            phases[phase].outside.push_back(l);
        else
            phases[phase].launches[iteration_slot.at(place[range].iteration).second].push_back(l);
    }
    for (Phase& phase : phases) {
        if (phase.iterations.empty()) {
            phase.marked_iterations = false;
            phase.iterations.push_back(kNone);
            phase.launches.push_back(std::move(phase.outside));
            phase.outside.clear();
            continue;
        }
        // The last iteration of a run that was cut is not a whole one; where it is the only one, it is all
        // there is.
        while (phase.iterations.size() > 1 && !process.ranges[phase.iterations.back()].ended) {
            ++phase.cut_iterations;
            phase.iterations.pop_back();
            phase.launches.pop_back();
        }
    }
    return phases;
}

std::vector<NamedLaunches> outermost_ranges(const Process& process) {
    std::vector<uint32_t> top(process.ranges.size(), kNone);
    std::vector<uint32_t> walk;
    for (uint32_t i = 0; i < top.size(); ++i) {
        uint32_t at = i;
        for (; top[at] == kNone && process.ranges[at].parent != kNone; at = process.ranges[at].parent)
            walk.push_back(at);
        const uint32_t found = top[at] == kNone ? at : top[at];
        top[at] = found;
        for (const uint32_t child : walk) top[child] = found;
        walk.clear();
    }
    std::vector<NamedLaunches> groups;
    std::unordered_map<std::string, size_t> by_name;
    NamedLaunches rest;
    for (uint32_t l = 0; l < process.launches.size(); ++l) {
        const uint32_t range = process.launches[l].range;
        if (range == kNone) {
            rest.launches.push_back(l);
            continue;
        }
        const auto [it, fresh] = by_name.emplace(process.ranges[top[range]].name, groups.size());
        if (fresh) groups.push_back({process.ranges[top[range]].name, {}, {}});
        groups[it->second].launches.push_back(l);
    }
    for (uint32_t i = 0; i < top.size(); ++i)
        if (const auto group = by_name.find(process.ranges[i].name); top[i] == i && group != by_name.end())
            groups[group->second].ranges.push_back(i);
    if (groups.size() > kMostGroups) {  // a name that changes each time ("step 17") makes no table
        NamedLaunches other{"other ranges", {}, {}};
        for (size_t i = kMostGroups; i < groups.size(); ++i) {
            other.launches.insert(other.launches.end(), groups[i].launches.begin(), groups[i].launches.end());
            other.ranges.insert(other.ranges.end(), groups[i].ranges.begin(), groups[i].ranges.end());
        }
        groups.resize(kMostGroups);
        groups.push_back(std::move(other));
    }
    if (!rest.launches.empty()) {
        rest.name = groups.empty() ? "whole program" : "outside any range";
        groups.push_back(std::move(rest));
    }
    return groups;
}

}  // namespace attnscope
