#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "clock_file.h"
#include "code_file.h"
#include "counter_file.h"
#include "join_collections.h"
#include "process_file.h"
#include "record_file.h"
#include "records.h"

namespace attnscope {

namespace fs = std::filesystem;

const std::string* LibraryCall::attribute(std::string_view key) const {
    for (const auto& [name, value] : attributes)
        if (name == key) return &value;
    return nullptr;
}

const Device* Process::device(int32_t ordinal) const {
    for (const Device& d : devices)
        if (d.ordinal == ordinal) return &d;
    return nullptr;
}

namespace {

constexpr const char* kRemedy =
    ": name the folder that `attnscope attention -o DIR` or `attnscope collect -o DIR` wrote";

Error not_a_run(const fs::path& folder, const std::string& why) {
    return Error(folder.string() + " is not a run: " + why + kRemedy);
}

/// What each run of the program collected, and what was asked of the counters.
void read_request(run_reader::Record& r, Run& run) {
    for (const std::string& word : r.texts("collections"))
        run.collections.push_back(word == "counters" ? Collection::counters : Collection::activity);
    auto counters = r.object("counters");
    if (!counters) return;
    run.counters_request = counters->text("request").value_or("");
    run.counters_range = counters->text("range").value_or("kernel");
    run.counters_metrics = counters->texts("metrics");
    run.counters_replay = counters->flag("replay").value_or(false);
    if (auto passes = counters->object("passes"))
        for (const std::string_view chip : passes->keys())
            if (const auto n = passes->u64(chip)) run.counters_passes.emplace_back(chip, *n);
}

/// run.json. Where it is there but unreadable, the processes' files may still be whole.
void read_summary(const fs::path& file, Run& run) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw Error(file.string() + ": cannot be read: check its permissions");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const size_t length = text.size();
    text.resize(length + simdjson::SIMDJSON_PADDING);
    simdjson::dom::parser parser;
    run_reader::Record r;
    if (!r.parse(parser, text.data(), length)) {
        run.diagnostics.push_back({DiagnosticLevel::data_loss, "broken-summary",
                                   "run.json is not a JSON object (" + std::to_string(length) +
                                       " bytes): the command and its exit code are lost",
                                   "record the run again", 1});
        return;
    }
    if (r.text("schema").value_or("") != "attnscope-run")
        throw not_a_run(run.folder, "its run.json does not say \"schema\": \"attnscope-run\"");
    run.version = r.text("version").value_or("");
    run_reader::refuse_newer(run.version, file.string());
    run.tool = r.text("attnscope").value_or("");
    if (const auto word = r.text("ground"))
        run.ground = run_reader::ground_of(*word).value_or(Ground::virtual_gpu);
    run.device_request = r.text("device_request").value_or("");
    run.devices = r.texts("devices");
    run.command = r.texts("command");
    run.started = r.text("started").value_or("");
    run.ended = r.text("ended").value_or("");
    run.exit_code = r.i64("exit_code");
    run.signal = r.i64("signal");
    read_request(r, run);
    for (run_reader::Record& imported : r.objects("imported"))
        run.imported.push_back({std::string(imported.text("name").value_or("")),
                                std::string(imported.text("format").value_or(""))});
    for (run_reader::Record& d : r.objects("diagnostics"))
        run.diagnostics.push_back(run_reader::diagnostic_of(d));
    if (!r.wrong_key().empty())
        run.diagnostics.push_back({DiagnosticLevel::warning, "wrong-type",
                                   "run.json: \"" + r.wrong_key() + "\" is of a wrong type, taken as absent",
                                   "record the run again with this version of attnscope", 1});
}

struct Files {
    std::vector<fs::path> processes, counters;  ///< by name
    bool clocks = false;
};

constexpr std::string_view kCounters = ".counters.jsonl";

Files files_of(const fs::path& folder) {
    Files files;
    std::error_code error;
    fs::directory_iterator it(folder, error);
    if (error)
        throw Error(folder.string() + ": cannot be read: " + error.message() + ": check its permissions");
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
        std::error_code ignored;
        if (it->path().extension() != ".jsonl" || !it->is_regular_file(ignored)) continue;
        const std::string name = it->path().filename().string();
        if (name == "clocks.jsonl")
            files.clocks = true;
        else if (name.size() > kCounters.size() && name.ends_with(kCounters))
            files.counters.push_back(it->path());
        else
            files.processes.push_back(it->path());
    }
    std::sort(files.processes.begin(), files.processes.end());
    std::sort(files.counters.begin(), files.counters.end());
    return files;
}

/// A reason why a process has no values at all; the others are about single launches or metrics.
bool explains_absence(const Diagnostic& d) {
    if (!d.code.starts_with("counters-")) return false;
    for (const char* partial : {"counters-metric-absent", "counters-captured", "counters-collective",
                                "counters-contended", "counters-graph-order", "counters-dropped"})
        if (d.code == partial) return false;
    return true;
}

/// Values to their processes; what has no partner is said.
void add_counters(Run& run, const Files& files) {
    for (const fs::path& file : files.counters) {
        std::string name = file.filename().string();
        name.replace(name.size() - kCounters.size(), std::string::npos, ".jsonl");
        const auto process = std::find_if(run.processes.begin(), run.processes.end(),
                                          [&](const Process& p) { return p.file == name; });
        if (process != run.processes.end()) {
            run_reader::read_counters(file, *process);
            continue;
        }
        run.diagnostics.push_back({DiagnosticLevel::data_loss, "counters-unjoined",
                                   file.filename().string() + ": there is no " + name +
                                       " whose launches these values belong to: none is used",
                                   "copy the whole folder", 1});
    }
    const bool told = std::any_of(run.diagnostics.begin(), run.diagnostics.end(), explains_absence);
    for (Process& p : run.processes) {
        if (p.collection != Collection::counters || p.counter_ground || told ||
            std::none_of(p.launches.begin(), p.launches.end(),
                         [](const Launch& l) { return l.kind == LaunchKind::kernel; }) ||
            std::any_of(p.diagnostics.begin(), p.diagnostics.end(), explains_absence))
            continue;
        p.diagnostics.push_back({DiagnosticLevel::warning, "counters-not-evaluated",
                                 p.file + ": counters were collected, but their values are not in the run",
                                 "evaluate the raw data: attnscope collect --evaluate " + run.folder.string(),
                                 1});
    }
}

}  // namespace

Run read_run(const fs::path& folder) {
    std::error_code error;
    const fs::file_status status = fs::status(folder, error);
    if (!fs::exists(status)) throw Error(folder.string() + ": there is no such folder" + kRemedy);
    if (!fs::is_directory(status)) throw not_a_run(folder, "it is a file, and a run is a folder");
    Run run;
    run.folder = folder;
    run.ground = Ground::real;
    const Files files = files_of(folder);
    const bool summary = fs::exists(folder / "run.json", error);
    if (!summary && files.processes.empty())
        throw not_a_run(folder, "it holds neither run.json nor a .jsonl file");
    if (summary)
        read_summary(folder / "run.json", run);
    else
        run.diagnostics.push_back({DiagnosticLevel::data_loss, "no-summary",
                                   "run.json is missing: the command and its exit code are lost",
                                   "copy the whole folder", 1});
    for (const fs::path& file : files.processes) run.processes.push_back(run_reader::read_process(file));
    if (!summary && std::none_of(run.processes.begin(), run.processes.end(),
                                 [](const Process& p) { return p.pid.has_value(); }))
        throw not_a_run(folder, "it holds no run.json, and no .jsonl file starts with a process");
    add_counters(run, files);
    run_reader::join_collections(run);
    run_reader::read_code(folder / "code" / "kernels.jsonl", run);
    if (files.clocks) run_reader::read_clocks(folder / "clocks.jsonl", run);
    std::stable_sort(run.processes.begin(), run.processes.end(), [](const Process& a, const Process& b) {
        const uint64_t x = a.rank.value_or(UINT64_MAX), y = b.rank.value_or(UINT64_MAX);
        return x != y ? x < y : a.file < b.file;
    });
    for (const Process& p : run.processes) run.ground = weaker(run.ground, p.ground);
    if (files.processes.empty())
        run.diagnostics.push_back({DiagnosticLevel::warning, "no-process-file",
                                   "no process of the program initialised CUDA: there is nothing to report",
                                   "check that the program uses a GPU (torch.cuda.is_available())", 1});
    if (run.signal)
        run.diagnostics.push_back(
            {DiagnosticLevel::warning, "program-killed",
             "the program was ended by signal " + std::to_string(*run.signal),
             "what was recorded before it is reported; run the program alone to see why", 1});
    else if (run.exit_code.value_or(0) != 0)
        run.diagnostics.push_back({DiagnosticLevel::warning, "program-failed",
                                   "the program ended with exit code " + std::to_string(*run.exit_code),
                                   "what was recorded is reported; run the program alone to see why", 1});
    else if (summary && run.ended.empty() && !run.version.empty())
        run.diagnostics.push_back({DiagnosticLevel::warning, "not-ended",
                                   "run.json does not say how the program ended: it was killed with its "
                                   "launcher, or is still running",
                                   "wait until it has ended, or record it again", 1});
    return run;
}

}  // namespace attnscope
