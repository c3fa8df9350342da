#include <algorithm>
#include <set>

#include "attnscope/analysis.h"
#include "calls.h"
#include "clocks.h"
#include "counters.h"
#include "implementation.h"
#include "models.h"
#include "notices.h"
#include "words.h"

namespace attnscope {
namespace {

/// Tells processes apart in titles; empty where there is one.
std::string suffix(const Run& run, const Process& process) {
    size_t with_launches = 0;
    for (const Process& p : run.processes) with_launches += !p.launches.empty();
    if (with_launches < 2) return {};
    if (process.rank) return " (rank " + std::to_string(*process.rank) + ")";
    if (process.pid) return " (process " + std::to_string(*process.pid) + ")";
    return " (" + process.file + ")";
}

void add_process(Analysis& out, const Run& run, const Process& process,
                 const std::vector<const MetricRole*>& roles) {
    const Marks marks = read_marks(process);
    const ProcessCounters counters(run, process, roles);
    if (marks.workload && out.workload.sentence().empty()) out.workload = *marks.workload;
    if (marks.choice && out.choice.chosen.empty()) out.choice = *marks.choice;
    if (marks.unreadable > 0)
        out.notices.push_back(
            {NoticeLevel::warning, "unreadable-mark",
             process.file + ": " + words::plural(double(marks.unreadable), "`attnscope.` mark") + " not JSON",
             "see schema/README.md for what the marks hold", marks.unreadable});
    const std::string title_suffix = suffix(run, process);
    const std::vector<Phase> phases = implementation_phases(process);
    if (phases.empty() && marks.implementations.empty()) {
        for (const NamedLaunches& group : outermost_ranges(process))
            out.implementations.push_back(analyze_group(process, group, counters, run.ground, title_suffix));
        return;
    }
    out.has_convention = true;
    // In the order in which they were tried: a refused one has a mark and no range.
    std::vector<bool> used(phases.size());
    for (const ImplementationMark& mark : marks.implementations) {
        const auto phase =
            std::find_if(phases.begin(), phases.end(), [&](const Phase& p) { return p.name == mark.name; });
        if (phase == phases.end()) {
            out.implementations.push_back(
                from_mark(process, mark, marks, counters, run.ground, title_suffix));
            continue;
        }
        used[static_cast<size_t>(phase - phases.begin())] = true;
        out.implementations.push_back(
            analyze_phase(process, *phase, &mark, marks, counters, run.ground, title_suffix));
    }
    for (size_t i = 0; i < phases.size(); ++i)
        if (!used[i])
            out.implementations.push_back(
                analyze_phase(process, phases[i], nullptr, marks, counters, run.ground, title_suffix));
}

/// LibTorch's answers to the calls of one process, each with the implementation that made it.
void add_calls(Analysis& out, const Run& run, const Process& process) {
    CallFinder finder(process);
    const std::string title_suffix = suffix(run, process);
    const std::vector<Phase> phases = implementation_phases(process);
    for (const Phase& phase : phases) {
        for (const auto& iteration : phase.launches) finder.add(phase.name + title_suffix, iteration, true);
        finder.add(phase.name + title_suffix, phase.outside, false);
    }
    if (phases.empty())
        for (const NamedLaunches& group : outermost_ranges(process))
            finder.add(group.name + title_suffix, group.launches, true);
    std::vector<AttentionCall> calls = finder.take();
    std::move(calls.begin(), calls.end(), std::back_inserter(out.calls));
}

/// Which roles the report can show, and why it cannot show the others of the main table.
void summarise_counters(Analysis& out, const Run& run, const std::vector<const MetricRole*>& roles) {
    out.counters_request = run.counters_request;
    out.counters_range = run.counters_range;
    out.counters_passes = run.counters_passes;
    bool launched = false, undisturbed = false;
    for (const Process& p : run.processes) {
        if (!p.counters.empty() && p.counter_ground)
            out.counter_ground = weaker(out.counter_ground.value_or(Ground::real), *p.counter_ground);
        out.two_collections = out.two_collections || !p.counters_from.empty();
        launched = launched || !p.launches.empty();
        undisturbed = undisturbed || (!p.launches.empty() && p.collection == Collection::activity);
    }
    out.serialised_only = launched && !undisturbed;
    for (const MetricRole* role : roles) {
        CounterRole shown{role->role, role->title, role->meaning, role->unit, false, {}};
        const auto look = [&](const std::vector<Measured>& counters) {
            const Measured* m = find_role(counters, role->role);
            if (!m) return;
            if (m->value)
                shown.measured = true;
            else if (shown.absent.empty())
                shown.absent = m->value.absent;
        };
        for (const Implementation& i : out.implementations) {
            if (i.status != ImplementationStatus::refused) look(i.counters);
            for (const Step& step : i.steps) look(step.counters);
        }
        if (shown.measured) shown.absent.clear();
        out.counter_roles.push_back(std::move(shown));
    }
}

/// The device of most launches; where none names one, the first.
void choose_device(Analysis& out, const Run& run) {
    std::set<std::string> used;
    const Device* best = nullptr;
    size_t best_count = 0;
    for (const Process& process : run.processes) {
        for (const Device& device : process.devices) {
            const auto count = static_cast<size_t>(
                std::count_if(process.launches.begin(), process.launches.end(),
                              [&](const Launch& l) { return l.device == device.ordinal; }));
            if (count > 0) used.insert(device.name + " " + std::to_string(device.ordinal));
            if (!best || count > best_count) {
                best = &device;
                best_count = count;
            }
        }
    }
    out.devices_used = used.size();
    out.device_name = "unknown GPU";
    if (!best) return;
    out.device = *best;
    constexpr size_t most = 96;  // it stands in every heading; the environment has the whole of it
    if (!best->name.empty()) out.device_name = words::shortened(best->name, most);
    if (best->sm_count) out.sm_count = *best->sm_count;
}

}  // namespace

const Implementation* Analysis::find(std::string_view name) const {
    for (const Implementation& i : implementations)
        if (i.name == name && i.status == ImplementationStatus::ran) return &i;
    return nullptr;
}

const std::string* Choice::why_not(std::string_view backend) const {
    for (const auto& [name, reason] : refused)
        if (name == backend) return &reason;
    return nullptr;
}

bool Analysis::timed() const {
    return std::any_of(implementations.begin(), implementations.end(),
                       [](const Implementation& i) { return bool(i.time); });
}

Analysis analyze(const Run& run) {
    Analysis out;
    out.ground = run.ground;
    out.folder = run.folder.string();
    out.command = run.command;
    out.started = run.started;
    out.processes = run.processes.size();
    choose_device(out, run);
    double totals[4] = {};
    const std::vector<const MetricRole*> roles = roles_of(run);
    for (const Process& process : run.processes) {
        add_process(out, run, process, roles);
        if (!process.choices.empty()) add_calls(out, run, process);
        for (const LoadedLibrary& library : process.libraries) {
            const std::pair<std::string, std::string> named{library.name, library.version};
            if (std::find(out.libraries.begin(), out.libraries.end(), named) == out.libraries.end())
                out.libraries.push_back(named);
        }
        for (const Launch& launch : process.launches)
            totals[static_cast<size_t>(launch.kind)] += double(launch.times);
        out.uncomputed_reads.insert(out.uncomputed_reads.end(), process.uncomputed_reads.begin(),
                                    process.uncomputed_reads.end());
        for (const AssumedFigure& figure : process.assumed) {
            const std::string text = "device " + std::to_string(figure.device) + ": " + figure.key;
            if (std::find(out.assumed.begin(), out.assumed.end(), text) == out.assumed.end())
                out.assumed.push_back(text);
        }
    }
    const Provenance trace{Source::trace, run.ground};
    out.total_kernels = Value::of(totals[0], Unit::count, trace);
    out.total_copies = Value::of(totals[1], Unit::count, trace);
    out.total_memsets = Value::of(totals[2], Unit::count, trace);
    out.total_library_calls = Value::of(totals[3], Unit::count, trace);
    if (out.calls.empty()) out.calls_absent = why_no_calls(run);
    summarise_counters(out, run, roles);
    out.clocks = summarise_clocks(run);
    std::vector<Notice> marks = std::move(out.notices);
    out.notices = collect_notices(run, out);
    out.notices.insert(out.notices.end(), marks.begin(), marks.end());
    out.environment = collect_environment(run, out);
    out.rank = rank_of(out);
    return out;
}

}  // namespace attnscope
