#include "process_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <numeric>

#include "attnscope/error.h"
#include "file_reader.h"

namespace attnscope::run_reader {

void FileReader::read(std::FILE* file) {
    const FileEnd end =
        read_records(file, out_.file, out_.diagnostics, "record it again and let the program end by itself",
                     [&](Record& record, uint64_t line) {
                         line_ = line;
                         take(record);
                     });
    line_ = end.lines;
    resolve();
    report(unknown_id_, DiagnosticLevel::data_loss, "unknown-id",
           "references to names, ranges or operations that the file does not hold",
           "lines are missing: record the run again");
    report(duplicate_, DiagnosticLevel::warning, "duplicate-id", "records repeat an id; the first one counts",
           "two runs may have been joined into one file");
    report(incomplete_, DiagnosticLevel::data_loss, "incomplete-record",
           "records lack a field that they need and were skipped",
           "record the run again with this version of attnscope");
    check_end(end.end_is_last);
}

uint32_t FileReader::look_up(const std::unordered_map<uint64_t, uint32_t>& index, std::optional<uint64_t> id,
                             const char* what) {
    if (!id) return kNone;
    const auto found = index.find(*id);
    if (found != index.end()) return found->second;
    if (unknown_id_.count++ == 0) unknown_id_.first = std::string(what) + " " + std::to_string(*id);
    return kNone;
}

/// Ids become indices, launches the order of issue.
void FileReader::resolve() {
    for (size_t i = 0; i < out_.ranges.size(); ++i)
        out_.ranges[i].parent = look_up(range_index_, range_parent_[i], "range");
    for (const auto& [id, end_ns] : range_ends_) {
        const uint32_t at = look_up(range_index_, id, "range");
        if (at == kNone) continue;
        out_.ranges[at].ended = true;
        out_.ranges[at].end_ns = end_ns;
    }
    for (const Reference& r : references_) out_.launches[r.launch].*r.field = look_up(*r.index, r.id, r.what);
    resolve_operations();
    for (size_t i = 0; i < out_.marks.size(); ++i)
        out_.marks[i].range = look_up(range_index_, mark_range_[i], "range");
    for (size_t i = 0; i < out_.uncomputed_reads.size(); ++i)
        out_.uncomputed_reads[i].range = look_up(range_index_, read_range_[i], "range");
    sort_launches();
    // A range that is its own ancestor would never end: cut where a walk comes back.
    std::vector<uint8_t> state(out_.ranges.size(), 0);  // 1: on this walk, 2: known to end
    for (uint32_t i = 0; i < state.size(); ++i) {
        std::vector<uint32_t> walk;
        for (uint32_t at = i; at != kNone && state[at] != 2; at = out_.ranges[at].parent) {
            if (state[at] == 1) {
                duplicate_.add(line_, "range " + std::to_string(out_.ranges[at].id) + " is its own ancestor");
                out_.ranges[walk.back()].parent = kNone;
                break;
            }
            state[at] = 1;
            walk.push_back(at);
        }
        for (const uint32_t at : walk) state[at] = 2;
    }
}

/// Stable: the kernels of one graph launch share a correlation and stand in the order of their nodes. A sort
/// of the launches themselves would need half of their memory once more; their places need little.
void FileReader::sort_launches() {
    std::vector<Launch>& launches = out_.launches;
    const auto before = [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; };
    if (std::is_sorted(launches.begin(), launches.end(), before)) return;
    std::vector<size_t> from(launches.size());
    std::iota(from.begin(), from.end(), size_t{0});
    std::stable_sort(from.begin(), from.end(),
                     [&](size_t a, size_t b) { return before(launches[a], launches[b]); });
    // Cycle by cycle: each launch moves once.
    for (size_t start = 0; start < from.size(); ++start) {
        if (from[start] == start) continue;
        Launch first = std::move(launches[start]);
        size_t to = start;
        while (from[to] != start) {
            const size_t next = from[to];
            launches[to] = std::move(launches[next]);
            from[to] = to;
            to = next;
        }
        launches[to] = std::move(first);
        from[to] = to;
    }
}

void FileReader::check_end(bool end_is_last) {
    uint64_t held[4] = {};
    for (const Launch& launch : out_.launches) ++held[static_cast<size_t>(launch.kind)];
    if (!saw_process_)
        add(DiagnosticLevel::data_loss, "no-process",
            out_.file + ": the record of the process is missing" + (line_ == 0 ? " (the file is empty)" : ""),
            "record it again and let the program end by itself");
    if (!out_.end) {
        add(DiagnosticLevel::data_loss, "no-end",
            out_.file + ": no `end` record: the program was killed or is still running; " +
                std::to_string(out_.launches.size()) +
                " launches are here, how many are missing is not known",
            "record it again and let the program end by itself");
        return;
    }
    if (!end_is_last)
        add(DiagnosticLevel::warning, "after-end", out_.file + ": there are records after the `end` record",
            "two runs may have been joined into one file");
    const auto compare = [&](std::optional<uint64_t> said, uint64_t here, const char* what) {
        if (!said || *said == here) return;
        const uint64_t difference = *said > here ? *said - here : here - *said;
        add(DiagnosticLevel::data_loss, "count-mismatch",
            out_.file + ": " + std::to_string(*said) + " " + what + " were recorded, the file holds " +
                std::to_string(here),
            "lines are missing or repeated: record the run again", difference);
    };
    compare(out_.end->kernels, held[0], "kernels");
    compare(out_.end->memcpys, held[1], "copies");
    compare(out_.end->memsets, held[2], "memsets");
    compare(out_.end->library_calls, held[3], "library calls");
    if (out_.end->dropped.value_or(0) > 0)
        add(DiagnosticLevel::data_loss, "dropped",
            out_.file + ": CUPTI dropped " + std::to_string(*out_.end->dropped) + " records",
            "record fewer launches at a time, or give the program more memory", *out_.end->dropped);
}

std::optional<Ground> ground_of(std::string_view word) {
    if (word == "real") return Ground::real;
    if (word == "virtual") return Ground::virtual_gpu;
    if (word == "imported") return Ground::imported;
    if (word == "fixture") return Ground::fixture;
    return std::nullopt;
}

void refuse_newer(std::string_view version, const std::string& where) {
    int major = 0;
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), major);
    const bool too_big = error == std::errc::result_out_of_range;
    if (!too_big && (error != std::errc{} || major <= kRunSchemaMajor)) return;
    throw Error(where + ": the run is of schema version " + std::string(version.substr(0, 20)) +
                ", this attnscope reads up to " + std::to_string(kRunSchemaMajor) +
                ".x: read it with the version that recorded it, or a newer one");
}

Process read_process(const std::filesystem::path& path) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file)
        throw Error(path.string() + ": cannot be read: " + std::strerror(errno) + ": check its permissions");
    Process process;
    process.file = path.filename().string();
    // A vector that grows holds everything twice for a moment; what is reserved and not used costs nothing.
    constexpr uintmax_t kShortestLaunch = 160, kMostReserved = 4'000'000;
    std::error_code error;
    if (const uintmax_t bytes = std::filesystem::file_size(path, error); !error)
        process.launches.reserve(std::min(bytes / kShortestLaunch, kMostReserved));
    FileReader(path, process).read(file.get());
    return process;
}

}  // namespace attnscope::run_reader
