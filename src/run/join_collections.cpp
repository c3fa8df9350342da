#include "join_collections.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "same_launches.h"

namespace attnscope::run_reader {
namespace {

constexpr const char* kWhy =
    "warm-up that measures and chooses (autotuning, cuDNN's benchmark mode) is the usual cause: raise "
    "--warmup, fix the program's seeds and choices, or take times in a run of their own: attnscope collect "
    "--counters none";

/// The path of names from the outermost range, with which the two runs' ranges are told apart.
std::vector<std::string> range_paths(const Process& p) {
    std::vector<std::string> out(p.ranges.size());
    for (uint32_t i = 0; i < out.size(); ++i) {
        size_t depth = 0;
        for (uint32_t at = i; at != kNone && depth < 64; at = p.ranges[at].parent, ++depth)
            out[i] += p.ranges[at].name + '\n';
    }
    return out;
}

std::map<std::string, std::vector<uint32_t>> ranges_by_path(const Process& p) {
    std::vector<uint32_t> order(p.ranges.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return p.ranges[a].id < p.ranges[b].id; });
    const std::vector<std::string> paths = range_paths(p);
    std::map<std::string, std::vector<uint32_t>> out;
    for (const uint32_t i : order) out[paths[i]].push_back(i);
    return out;
}

/// Values of ranges: by path and place among those of the same path, where both runs opened as many.
void carry_ranges(const Process& from, Process& to) {
    if (std::none_of(from.ranges.begin(), from.ranges.end(),
                     [](const Range& r) { return r.counters != kNone; }))
        return;
    const auto theirs = ranges_by_path(from), ours = ranges_by_path(to);
    uint64_t lost = 0;
    for (const auto& [path, ranges] : theirs) {
        const auto same = ours.find(path);
        const bool fits = same != ours.end() && same->second.size() == ranges.size();
        for (size_t i = 0; i < ranges.size(); ++i) {
            const uint32_t counters = from.ranges[ranges[i]].counters;
            if (fits)
                to.ranges[same->second[i]].counters = counters;
            else
                lost += counters != kNone;
        }
    }
    if (lost > 0)
        to.diagnostics.push_back({DiagnosticLevel::data_loss, "counters-unjoined",
                                  from.file + ": " + std::to_string(lost) +
                                      " counted ranges have no range of the same name and number in the run "
                                      "for time: not used",
                                  kWhy, lost});
}

/// One process of both: launches and times of `activity`, counters of `counters`.
void join(Process& counters, Process& activity, const LaunchMatch& match) {
    activity.metrics = std::move(counters.metrics);
    activity.counters = std::move(counters.counters);
    activity.counter_ground = counters.counter_ground;
    activity.counters_from = counters.file;
    for (const auto& [from, to] : match.pairs) {
        activity.launches[to].counters = counters.launches[from].counters;
        activity.launches[to].uncounted = counters.launches[from].uncounted;
    }
    carry_ranges(counters, activity);
    for (Diagnostic& d : counters.diagnostics) activity.diagnostics.push_back(std::move(d));
    if (!match.copies.empty())
        activity.diagnostics.push_back(
            {DiagnosticLevel::info, "collections-copies-differ",
             "the run for counters and the run for time show other copies (" + match.copies +
                 "); their kernels are the same one by one",
             "nothing: copies are not counted, and shown as the run for time recorded them", 1});
}

void differ(Process& counters, const Process* activity, const std::string& difference) {
    const std::string left_out =
        activity ? " The run for time (" + std::to_string(activity->launches.size()) +
                       " launches) is left out, so that nothing is counted twice: there are no times."
                 : " There are no times for it.";
    counters.diagnostics.push_back(
        {DiagnosticLevel::warning, "collections-differ",
         "the two runs of the program launched different kernels: " + difference + "." + left_out, kWhy, 1});
}

std::string program(const Process& p) {
    return p.executable.substr(p.executable.rfind('/') + 1);
}

}  // namespace

void join_collections(Run& run) {
    std::vector<Process> counters, activity, out;
    for (Process& p : run.processes)
        (p.collection == Collection::counters ? counters : activity).push_back(std::move(p));
    const auto launched = [](const Process& p) { return !p.launches.empty(); };
    if (std::none_of(counters.begin(), counters.end(), launched) || activity.empty()) {
        // One collection alone, or the run for counters holds nothing: its diagnostics stay.
        for (auto* side : {&activity, &counters})
            for (Process& p : *side) out.push_back(std::move(p));
        run.processes = std::move(out);
        return;
    }
    std::vector<bool> used(activity.size());
    const auto by_start = [](const Process& a, const Process& b) {
        return a.start_unix_ns.value_or(UINT64_MAX) < b.start_unix_ns.value_or(UINT64_MAX);
    };
    std::stable_sort(counters.begin(), counters.end(), by_start);
    std::stable_sort(activity.begin(), activity.end(), by_start);
    for (Process& c : counters) {
        if (c.launches.empty()) {  // what launched nothing may still have something to say
            out.push_back(std::move(c));
            continue;
        }
        size_t partner = 0;
        while (partner < activity.size() &&
               (used[partner] || activity[partner].rank != c.rank || activity[partner].launches.empty()))
            ++partner;
        if (partner == activity.size()) {
            differ(c, nullptr, "no process of the run for time belongs to " + c.file);
            out.push_back(std::move(c));
            continue;
        }
        used[partner] = true;
        Process& a = activity[partner];
        LaunchMatch match;
        if (c.executable != a.executable)
            match.difference = "the programs are " + program(c) + " in the run for counters and " +
                               program(a) + " in the run for time";
        else
            match = match_launches(c, a);
        if (match.difference.empty()) {
            join(c, a, match);
            out.push_back(std::move(a));
        } else {
            differ(c, &a, match.difference);
            out.push_back(std::move(c));
        }
    }
    uint64_t left_processes = 0, left_launches = 0;
    for (size_t i = 0; i < activity.size(); ++i) {
        if (used[i]) continue;
        if (activity[i].launches.empty()) {
            out.push_back(std::move(activity[i]));
            continue;
        }
        ++left_processes;
        left_launches += activity[i].launches.size();
    }
    if (left_processes > 0)
        run.diagnostics.push_back(
            {DiagnosticLevel::warning, "collections-differ",
             std::to_string(left_processes) + " processes of the run for time (" +
                 std::to_string(left_launches) +
                 " launches) have none beside them in the run for counters: they are left out, so that "
                 "nothing is counted twice",
             kWhy, left_processes});
    run.processes = std::move(out);
}

}  // namespace attnscope::run_reader
