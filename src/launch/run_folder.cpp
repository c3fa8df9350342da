#include "run_folder.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attnscope/redact.h"
#include "config_asks.h"
#include "run_json.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

std::string utc_now(const char* format) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, format, &parts);
    return text;
}

bool holds_a_run(const fs::path& folder) {
    const auto text = read_plain_file(folder / "run.json", kRunJsonLimit);
    const auto json = nlohmann::json::parse(text.value_or(""), nullptr, false);
    return json.is_object() && json.value("schema", nlohmann::json()) == "attnscope-run";
}

/// What the launcher, the program's processes and the evaluation leave there; nobody else's files.
void remove_counters(const fs::path& folder) {
    std::error_code ignored;
    if (fs::is_symlink(folder, ignored) || !fs::is_directory(folder, ignored)) return;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        for (const char* ours :
             {".ask", ".config", ".refused", ".data", ".availability", ".planned", ".new", ".part"})
            if (entry.path().extension() == ours) fs::remove(entry.path());
        if (name == "closed") fs::remove(entry.path());
    }
    fs::remove(folder, ignored);  // empty folders alone
}

void remove_code(const fs::path& folder) {
    std::error_code ignored;
    if (fs::is_symlink(folder, ignored)) return;
    for (const char* ours : {"kernels.jsonl", "kernels.jsonl.new"}) fs::remove(folder / ours, ignored);
    fs::remove(folder, ignored);
}

void remove_run(const fs::path& folder) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".jsonl" || entry.path().filename() == "run.json")
            fs::remove(entry.path());
    remove_counters(folder / "counters");
    remove_code(folder / "code");
}

/// The outermost missing folder on the way to `path`; empty when it is all there.
std::string outermost_missing(const fs::path& path) {
    std::string missing;
    std::error_code error;
    for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path()) {
        missing = at;
        if (at == at.parent_path()) break;
    }
    return missing;
}

}  // namespace

RunFolder::RunFolder(const CollectRequest& request, const GroundChoice& ground, const CounterSetup& counters)
    : request_(request), ground_(ground), counters_(counters), started_(utc_now("%Y-%m-%dT%H:%M:%SZ")) {
    const std::string name =
        request.output.empty() ? "attnscope-run-" + utc_now("%Y%m%d-%H%M%S") : request.output;
    try {
        path_ = fs::absolute(name).lexically_normal();
        if (path_.size() > 1 && path_.back() == '/') path_.pop_back();
        if (fs::exists(path_) && !fs::is_directory(path_))
            throw Error(name + " is a file: name a folder with -o");
        if (fs::exists(path_) && !fs::is_empty(path_)) {
            if (!holds_a_run(path_))
                throw Error(name +
                            " is not empty and holds no run of attnscope: name another folder with -o");
            if (!request.replace)
                throw Error(name +
                            " holds an earlier run: name another folder with -o, or replace it with --force");
            remove_run(path_);
        }
        first_created_ = outermost_missing(path_);
        fs::create_directories(path_);
        write_or_throw(counters.diagnostics);
    } catch (const fs::filesystem_error& e) {
        throw Error(name + " cannot be written: " + e.code().message() + "; name another folder with -o");
    }
}

RunFolder::~RunFolder() {
    if (kept_) return;
    std::error_code ignored;
    for (const char* ours : {"run.json", "clocks.jsonl", "counters/closed", "counters"})
        fs::remove(fs::path(path_) / ours, ignored);
    for (fs::path at = path_; !first_created_.empty(); at = at.parent_path()) {
        if (!fs::remove(at, ignored) || at == first_created_) break;  // removes empty folders alone
    }
}

void RunFolder::begin(const std::string& collection) {
    collections_.push_back(collection);
    ended_.clear();
}

void RunFolder::ended(const Ended& ended) {
    ended_ = utc_now("%Y-%m-%dT%H:%M:%SZ");
    kept_ = true;
    if (result_.exit_code == 0) result_ = ended;
}

std::string RunFolder::write(const std::vector<Diagnostic>& diagnostics) {
    try {
        write_or_throw(diagnostics);
        return {};
    } catch (const fs::filesystem_error& e) {
        return e.code().message();
    }
}

void RunFolder::write_or_throw(const std::vector<Diagnostic>& diagnostics) const {
    using nlohmann::json;
    json run = {{"schema", "attnscope-run"},
                {"version", "1.1"},
                {"attnscope", ATTNSCOPE_VERSION},
                {"started", started_},
                {"device_request", request_.device}};
    run["ground"] = ground_.is_virtual ? "virtual" : "real";
    run["devices"] = ground_.is_virtual ? ground_.device_names : std::vector<std::string>();
    run["command"] = redact_command(request_.command);
    if (!collections_.empty()) run["collections"] = collections_;
    if (counters_.asked) {
        json passes = json::object();
        for (const ChipPlan& plan : counters_.chips) passes[plan.chip] = plan.passes;
        run["counters"] = {{"request", counters_.request},
                           {"metrics", counters_.metrics()},
                           {"range", counters_.range},
                           {"replay", counters_.replay},
                           {"passes", passes}};
    }
    if (!diagnostics.empty()) run["diagnostics"] = to_json(diagnostics);
    if (!ended_.empty()) {
        run["ended"] = ended_;
        run["exit_code"] = result_.exit_code;
        if (result_.signal != 0) run["signal"] = result_.signal;
    }
    write_run_json(path_, run);
}

size_t RunFolder::process_files() const {
    size_t count = 0;
    std::error_code error;
    for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        count += at->path().extension() == ".jsonl" && name != "clocks.jsonl" &&
                         at->path().stem().extension() != ".counters"
                     ? 1
                     : 0;
    }
    return count;
}

}  // namespace attnscope::launch
