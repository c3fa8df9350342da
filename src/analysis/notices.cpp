#include "notices.h"

#include <algorithm>
#include <map>
#include <set>

#include "clocks.h"
#include "models.h"
#include "steps.h"
#include "words.h"

namespace attnscope {
namespace {

constexpr size_t kMostNotices = 60;

NoticeLevel level(DiagnosticLevel l) {
    switch (l) {
        case DiagnosticLevel::info:
            return NoticeLevel::info;
        case DiagnosticLevel::warning:
            return NoticeLevel::warning;
        case DiagnosticLevel::error:
            return NoticeLevel::error;
        case DiagnosticLevel::data_loss:
            return NoticeLevel::data_loss;
    }
    return NoticeLevel::warning;
}

/// What a reader must know before any number: losses, and why a column of counters is not there.
bool comes_first(const Diagnostic& d) {
    return d.level == DiagnosticLevel::data_loss || d.code.starts_with("counters-") ||
           d.code == "collections-differ";
}

void add_joined(std::vector<Notice>& out, std::map<std::string, size_t>& seen, const Diagnostic& d) {
    const auto [it, fresh] = seen.emplace(d.code + '\n' + d.message, out.size());
    if (fresh)
        out.push_back({level(d.level), d.code, d.message, d.remedy, d.count, comes_first(d)});
    else
        out[it->second].count += d.count;
}

bool ran_kernels(const Analysis& analysis) {
    return analysis.device && analysis.total_kernels.number.value_or(0) > 0;
}

/// What a GPU must be known by, and is not: otherwise only dashes far below would say it.
void add_unknown_device(std::vector<Notice>& out, const Analysis& analysis) {
    if (const std::string missing = missing_limits(analysis); !missing.empty())
        out.push_back({NoticeLevel::warning, "device-limits",
                       "what an SM of " + analysis.device_name + " can hold was not recorded (" + missing +
                           "): no theoretical occupancy, no limiter, no waves",
                       "collect again on that machine with `attnscope collect`", 1, true});
    if (ran_kernels(analysis) && !analysis.device->name.empty() && !known_gpu(*analysis.device))
        out.push_back({NoticeLevel::info, "device-peaks",
                       "no peaks are known of " + analysis.device_name +
                           ": no roof, no time bound, and nothing said of what its L2 keeps",
                       "name a table with them in ATTNSCOPE_GPUS; src/data/gpus.tsv is the form", 1, false});
}

std::string cuda_version(uint64_t version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string missing_limits(const Analysis& analysis) {
    std::string missing;
    if (ran_kernels(analysis)) sm_limits_of(*analysis.device, missing);
    return missing;
}

std::vector<Notice> collect_notices(const Run& run, const Analysis& analysis) {
    std::vector<Notice> out;
    std::map<std::string, size_t> seen;
    for (const Diagnostic& d : run.diagnostics) add_joined(out, seen, d);
    for (const Process& process : run.processes)
        for (const Diagnostic& d : process.diagnostics) add_joined(out, seen, d);
    for (const Implementation& i : analysis.implementations)
        if (!i.iterations_note.empty())
            out.push_back({NoticeLevel::warning, "iterations", i.title + ": " + i.iterations_note,
                           "raise --warmup, or mark each iteration with an `attnscope.iteration` range", 1});
    add_unknown_device(out, analysis);
    uint64_t launches = 0;
    for (const Process& process : run.processes) launches += process.launches.size();
    if (launches == 0 && !run.processes.empty())
        out.push_back({NoticeLevel::warning, "nothing-recorded",
                       "no kernel, copy, memset or library call was recorded: there is nothing to compare",
                       "check that the program used the GPU before it ended", 1});
    std::stable_sort(out.begin(), out.end(), [](const Notice& a, const Notice& b) {
        return static_cast<int>(a.level) > static_cast<int>(b.level);
    });
    if (out.size() > kMostNotices) {
        const size_t left_out = out.size() - kMostNotices;
        const NoticeLevel worst = out[kMostNotices].level;
        out.resize(kMostNotices);
        out.push_back({worst, "more-notices",
                       words::number(double(left_out)) + " further notices are not shown",
                       "read the `diagnostic` records of the run", left_out});
    }
    return out;
}

std::vector<Fact> collect_environment(const Run& run, const Analysis& analysis) {
    std::vector<Fact> facts;
    const auto add = [&](const char* label, const std::string& value) {
        if (!value.empty()) facts.push_back({label, value});
    };
    add("Run", analysis.folder);
    add("Ground", to_string(run.ground));
    add(run.imported.empty() ? "Recorded by" : "Imported by",
        run.tool.empty() ? "" : "attnscope " + run.tool);
    for (const ImportedFile& file : run.imported) add("Imported from", file.name + " (" + file.format + ")");
    if (run.ground == Ground::imported) {
        add("Imported", run.ended);
    } else {
        add("Started", run.started);
        add("Ended", run.ended);
    }
    if (run.exit_code) add("Exit code of the program", std::to_string(*run.exit_code));
    if (run.signal) add("Signal that ended it", std::to_string(*run.signal));
    add("Device asked for", run.device_request);
    std::set<std::string> devices, hosts, drivers, runtimes, cuptis, libraries;
    for (const Process& p : run.processes) {
        for (const Device& d : p.devices) {
            std::string text = (d.name.empty() ? "no name" : d.name) +
                               (d.id.empty() || d.id == d.name ? "" : " (" + d.id + ")");
            if (!d.chip.empty()) text += ", " + d.chip;
            if (d.major && d.minor)
                text += ", compute capability " + std::to_string(*d.major) + "." + std::to_string(*d.minor);
            if (d.sm_count) text += ", " + std::to_string(*d.sm_count) + " SMs";
            if (d.memory_bytes) text += ", " + words::bytes(double(*d.memory_bytes));
            devices.insert("device " + std::to_string(d.ordinal) + ": " + text);
        }
        if (!p.host.empty()) hosts.insert(p.host);
        if (p.cuda_driver) drivers.insert(cuda_version(*p.cuda_driver));
        if (p.cuda_runtime) runtimes.insert(cuda_version(*p.cuda_runtime));
        if (p.cupti) cuptis.insert(std::to_string(*p.cupti));
        for (const LoadedLibrary& l : p.libraries)
            libraries.insert(l.name + (l.version.empty() ? " (version unknown)" : " " + l.version));
    }
    const auto all = [](const std::set<std::string>& items) {
        return words::join({items.begin(), items.end()}, ", ");
    };
    add("GPU", all(devices));
    add("Host", all(hosts));
    add("CUDA driver", all(drivers));
    add("CUDA runtime", all(runtimes));
    add("CUPTI", all(cuptis));
    if (!run.counters_request.empty() && run.counters_request != "none") {
        std::string text = run.counters_request;
        if (!run.counters_range.empty() && run.counters_range != "kernel")
            text += ", one value for each " +
                    std::string(run.counters_range == "nvtx" ? "outermost NVTX range" : "iteration");
        for (const auto& [chip, passes] : run.counters_passes)
            text += "; " + words::plural(double(passes), "pass") + " on " + chip;
        if (run.counters_replay) text += "; kernels may have been replayed";
        add("Counters asked for", text);
    }
    for (const Fact& fact : clock_facts(analysis.clocks)) facts.push_back(fact);
    add("Libraries", all(libraries));
    add("PyTorch", analysis.workload.torch);
    add("Workload", analysis.workload.sentence());
    if (run.processes.size() > 1) add("Processes", std::to_string(run.processes.size()));
    return facts;
}

}  // namespace attnscope
