#include "run_folder.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "attnscope/redact.h"

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
    std::ifstream file(folder / "run.json");
    const auto json = nlohmann::json::parse(file, nullptr, false);
    return json.is_object() && json.value("schema", "") == "attnscope-run";
}

void remove_run(const fs::path& folder) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".jsonl" || entry.path().filename() == "run.json")
            fs::remove(entry.path());
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

RunFolder::RunFolder(const CollectRequest& request, const GroundChoice& ground)
    : request_(request), ground_(ground), started_(utc_now("%Y-%m-%dT%H:%M:%SZ")) {
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
        write(nullptr);
    } catch (const fs::filesystem_error& e) {
        throw Error(name + " cannot be written: " + e.code().message() + "; name another folder with -o");
    }
}

RunFolder::~RunFolder() {
    if (finished_) return;
    std::error_code ignored;
    fs::remove(fs::path(path_) / "run.json", ignored);
    for (fs::path at = path_; !first_created_.empty(); at = at.parent_path()) {
        if (!fs::remove(at, ignored) || at == first_created_) break;  // removes empty folders alone
    }
}

void RunFolder::finish(const Ended& ended) {
    write(&ended);
    finished_ = true;
}

void RunFolder::write(const Ended* ended) {
    using nlohmann::json;
    json run = {{"schema", "attnscope-run"},
                {"version", "1.0"},
                {"attnscope", ATTNSCOPE_VERSION},
                {"started", started_},
                {"device_request", request_.device}};
    run["ground"] = ground_.is_virtual ? "virtual" : "real";
    run["devices"] = ground_.is_virtual ? ground_.device_names : std::vector<std::string>();
    run["command"] = redact_command(request_.command);
    if (ended != nullptr) {
        run["ended"] = utc_now("%Y-%m-%dT%H:%M:%SZ");
        run["exit_code"] = ended->exit_code;
        if (ended->signal != 0) run["signal"] = ended->signal;
    }
    // Beside, then renamed: a reader never sees half of it.
    const std::string final = path_ + "/run.json", beside = final + ".new";
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << run.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    file.close();
    if (!file || std::rename(beside.c_str(), final.c_str()) != 0) {
        const std::error_code error(errno, std::generic_category());
        std::error_code ignored;
        fs::remove(beside, ignored);
        throw fs::filesystem_error("run.json", final, error);
    }
}

size_t RunFolder::process_files() const {
    size_t count = 0;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_, error))
        count += entry.path().extension() == ".jsonl" ? 1 : 0;
    return count;
}

}  // namespace attnscope::launch
