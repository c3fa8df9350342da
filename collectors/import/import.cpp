// Opens, unwraps, recognises, and makes one run of what the importers found.
#include "attnscope/import.h"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <map>
#include <set>
#include <system_error>

#include "attnscope/error.h"
#include "containers.h"
#include "importer.h"
#include "write_run.h"

namespace attnscope {

namespace fs = std::filesystem;
using namespace importer;

namespace {

constexpr int kMostWrappings = 4;        // a trace in gzip in a tar in gzip, and one to spare
constexpr uint64_t kMostMembers = 4096;  // of an archive

std::string utc(std::chrono::system_clock::time_point time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

class Reader {
  public:
    explicit Reader(size_t block) : block_(block) {
        run_.ground = Ground::imported;
        run_.tool = ATTNSCOPE_VERSION;
        run_.version = kVersion;
        run_.started = run_.ended = utc(std::chrono::system_clock::now());
    }

    void read_file(const fs::path& path) {
        std::error_code error;
        if (fs::is_directory(path, error))
            throw Error(path.string() + ": a folder is no file of a profiler; of a run, `attnscope report " +
                        path.string() + "` makes a report");
        const auto file = open_file(path);
        read(*file, path.filename().string(), path);
    }

    void read(ByteSource& source, const std::string& name, const fs::path& path) {
        read(source, name, path, 0);
    }

    Run finish() {
        run_.diagnostics.insert(run_.diagnostics.end(), found_.diagnostics.begin(), found_.diagnostics.end());
        run_.counters_range = found_.counters_range;
        run_.counters_replay = found_.replayed;
        run_.processes = std::move(found_.processes);
        for (Process& p : run_.processes) {
            p.file = file_name(p.file);
            const bool known = std::find(run_.collections.begin(), run_.collections.end(), p.collection) !=
                               run_.collections.end();
            if (!known) run_.collections.push_back(p.collection);
        }
        std::stable_sort(run_.processes.begin(), run_.processes.end(),
                         [](const Process& a, const Process& b) {
                             const uint64_t x = a.rank.value_or(UINT64_MAX), y = b.rank.value_or(UINT64_MAX);
                             return x != y ? x < y : a.file < b.file;
                         });
        return std::move(run_);
    }

  private:
    void read(ByteSource& source, const std::string& name, const fs::path& path, int depth) {
        ByteWindow window(source, block_);
        while (window.size() < kHead && window.more()) {
        }
        const std::string_view head = window.view().substr(0, kHead);
        const bool wrapped = is_gzip(head) || is_zstd(head) || is_tar(head);
        if (wrapped && depth == kMostWrappings)
            throw Error(name + ": wrapped more than " + std::to_string(kMostWrappings) +
                        " times (gzip, zstd, tar): unpack it");
        if (is_tar(head)) return read_members(window, name, depth);
        if (wrapped) {
            WindowSource packed(window);
            const auto unpacked = is_gzip(head) ? gunzip(packed) : unzstd(packed);
            return read(*unpacked, name, {}, depth + 1);
        }
        for (const Format& format : formats()) {
            if (!format.recognises(head)) continue;
            Input input{name, path, window};
            format.read(input, found_);
            run_.imported.push_back({name, format.title});
            return;
        }
        const std::string problem = source.problem();
        throw Error(name + ": " + (head.empty() && !problem.empty() ? problem : look_alike(head, name)));
    }

    void read_members(ByteWindow& archive, const std::string& name, int depth) {
        uint64_t members = 0;
        std::string refused;
        const size_t before = run_.imported.size();
        const std::string problem =
            for_each_member(archive, [&](const std::string& member, ByteSource& bytes) {
                if (++members > kMostMembers) return;
                const std::string base = fs::path(member).filename().string();
                if (base.empty() || base.front() == '.') return;  // what macOS adds
                try {
                    read(bytes, base, {}, depth + 1);
                } catch (const Error& e) {
                    run_.diagnostics.push_back(
                        {DiagnosticLevel::warning, "import-member-skipped", name + ": " + e.what(), "", 1});
                    if (refused.empty()) refused = e.what();
                }
            });
        if (members > kMostMembers)
            run_.diagnostics.push_back({DiagnosticLevel::data_loss, "import-members",
                                        name + ": holds " + std::to_string(members) + " files, the first " +
                                            std::to_string(kMostMembers) + " are read",
                                        "unpack it and import what you need", members - kMostMembers});
        if (run_.imported.size() == before)
            throw Error(name + ": an archive in which there is nothing to import" +
                        (refused.empty() ? "" : "; " + refused));
        const std::string why = problem.empty() ? archive.source().problem() : problem;
        if (!why.empty())
            run_.diagnostics.push_back({DiagnosticLevel::data_loss, "import-cut-short", name + ": " + why,
                                        "copy the file again", 1});
    }

    /// "trace.json.gz" -> "trace.jsonl", once.
    std::string file_name(const std::string& name) {
        std::string stem = name.substr(0, 120);
        for (const char* extension :
             {".gz", ".zst", ".zstd", ".tar", ".tgz", ".json", ".csv", ".txt", ".sqlite"})
            if (stem.size() > std::string_view(extension).size() && stem.ends_with(extension))
                stem.resize(stem.size() - std::string_view(extension).size());
        for (char& c : stem)
            if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
        if (stem.empty() || stem.front() == '.' || stem == "clocks") stem.insert(0, "import-");
        if (stem.ends_with(".counters")) stem += "_";
        std::string unique = stem;
        while (!taken_.insert(unique).second) unique = stem + "-" + std::to_string(++repeated_[stem] + 1);
        return unique + ".jsonl";
    }

    const size_t block_;
    Run run_;
    Imported found_;
    std::set<std::string> taken_;               ///< files' names
    std::map<std::string, uint64_t> repeated_;  ///< how often each came again
};

}  // namespace

Run import_files(const std::vector<fs::path>& files) {
    Reader reader(ByteWindow::kBlock);
    for (const fs::path& file : files) reader.read_file(file);
    return reader.finish();
}

Run importer::import_source(ByteSource& source, const std::string& name, const fs::path& path, size_t block) {
    Reader reader(block);
    reader.read(source, name, path);
    return reader.finish();
}

void write_imported_run(const Run& run, const fs::path& folder, bool replace) {
    std::error_code error;
    const bool exists = fs::exists(folder, error);
    const bool ours = exists && fs::exists(folder / "run.json", error);
    if (exists && !fs::is_directory(folder, error))
        throw Error(folder.string() + ": is a file, not a folder");
    if (exists && !fs::is_empty(folder, error) && !(replace && ours))
        throw Error(folder.string() + (ours ? ": is a run already: choose another folder, or --replace"
                                            : ": is not empty and no run: choose another folder"));
    // Beside its place, then renamed: whole or not at all.
    const fs::path parent = fs::absolute(folder).parent_path();
    fs::create_directories(parent, error);
    if (error) throw Error(parent.string() + ": cannot be made: " + error.message());
    std::string pattern = (parent / (".attnscope-import-XXXXXX")).string();
    if (!mkdtemp(pattern.data()))
        throw Error(parent.string() + ": cannot be written to: check its permissions");
    const fs::path beside = pattern;
    try {
        write_run(run, beside);
        fs::permissions(beside, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                    fs::perms::others_read | fs::perms::others_exec);
        if (exists) fs::remove_all(folder);
        fs::rename(beside, folder);
    } catch (const fs::filesystem_error& e) {
        fs::remove_all(beside, error);
        throw Error(folder.string() + ": cannot be written: " + e.code().message());
    } catch (...) {
        fs::remove_all(beside, error);
        throw;
    }
}

std::vector<std::pair<std::string, std::string>> import_formats() {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Format& format : formats()) out.emplace_back(format.id, format.title);
    return out;
}

}  // namespace attnscope
