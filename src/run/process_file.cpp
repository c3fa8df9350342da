#include "process_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "attnscope/error.h"
#include "line_source.h"
#include "records.h"

namespace attnscope::run_reader {
namespace {

DiagnosticLevel level_of(std::string_view word) {
    if (word == "info") return DiagnosticLevel::info;
    if (word == "error") return DiagnosticLevel::error;
    if (word == "data_loss") return DiagnosticLevel::data_loss;
    return DiagnosticLevel::warning;
}

/// How often something was wrong, and where first.
struct Tally {
    uint64_t count = 0;
    std::string first;
    void add(uint64_t line, std::string what = {}) {
        if (count++ == 0) first = "line " + std::to_string(line) + (what.empty() ? "" : ": " + what);
    }
};

class FileReader {
  public:
    FileReader(const std::filesystem::path& path, Process& process) : path_(path), out_(process) {}

    void read(std::FILE* file);

  private:
    void take(Record& r);
    void take_process(Record& r);
    void take_library(Record& r);
    void take_device(Record& r);
    void take_name(Record& r);
    void take_range(Record& r);
    void take_range_end(Record& r);
    void take_launch(Record& r, LaunchKind kind);
    void take_kernel(Record& r, Launch& launch);
    void take_library_call(Record& r, Launch& launch);
    void take_read(Record& r);
    void take_diagnostic(Record& r);
    void take_end(Record& r);
    void resolve();
    void check_end(bool saw_end_last);
    void add(DiagnosticLevel level, std::string code, std::string message, std::string remedy,
             uint64_t count = 1) {
        out_.diagnostics.push_back({level, std::move(code), std::move(message), std::move(remedy), count});
    }
    void report(const Tally& tally, DiagnosticLevel level, const char* code, const std::string& what,
                const char* remedy) {
        if (tally.count == 0) return;
        add(level, code,
            out_.file + ": " + std::to_string(tally.count) + " " + what + " (first: " + tally.first + ")",
            remedy, tally.count);
    }

    const std::filesystem::path& path_;
    Process& out_;
    uint64_t line_ = 0;
    bool saw_process_ = false;
    // Ids as the file gives them, resolved to indices when all of it is read: records come in the order in
    // which CUPTI's buffers are handed over, not in that of the program.
    std::unordered_map<uint64_t, uint32_t> name_index_, range_index_;
    std::vector<std::optional<uint64_t>> launch_range_, launch_name_, range_parent_, mark_range_, read_range_;
    std::vector<std::pair<uint64_t, std::optional<uint64_t>>> range_ends_;
    std::unordered_map<std::string, uint32_t> copy_kind_index_;
    Tally broken_, wrong_type_, duplicate_, unknown_id_, incomplete_;
};

void FileReader::read(std::FILE* file) {
    LineSource source(file);
    simdjson::dom::parser parser;
    Record record;
    LineSource::Line line;
    bool end_is_last = false;
    while (source.next(line)) {
        ++line_;
        const bool blank = !line.oversized && std::all_of(line.text, line.text + line.length, [](char c) {
            return c == ' ' || c == '\t' || c == '\r';
        });
        if (blank) continue;
        if (!line.oversized && record.parse(parser, line.text, line.length)) {
            end_is_last = record.type() == "end";
            take(record);
            if (!record.wrong_key().empty())
                wrong_type_.add(line_,
                                "\"" + record.wrong_key() + "\" of \"" + std::string(record.type()) + "\"");
        } else if (!line.complete) {
            end_is_last = false;
            add(DiagnosticLevel::data_loss, "cut-tail",
                out_.file + ", line " + std::to_string(line_) +
                    ": the file ends in the middle of a record; its last " + std::to_string(line.length) +
                    " bytes are lost",
                "record it again and let the program end by itself");
        } else {
            broken_.add(line_, line.oversized ? "longer than 64 MiB" : "");
        }
    }
    if (source.read_error())
        add(DiagnosticLevel::data_loss, "read-error",
            out_.file + ": reading failed after line " + std::to_string(line_) + ": " + std::strerror(errno),
            "copy the run to a healthy disk and read it there");
    resolve();
    report(broken_, DiagnosticLevel::data_loss, "broken-line", "lines are not JSON objects and were skipped",
           "the file was changed or damaged after it was written: record the run again");
    report(unknown_id_, DiagnosticLevel::data_loss, "unknown-id",
           "references to names or ranges that the file does not hold",
           "lines are missing: record the run again");
    report(duplicate_, DiagnosticLevel::warning, "duplicate-id", "records repeat an id; the first one counts",
           "two runs may have been joined into one file");
    report(incomplete_, DiagnosticLevel::data_loss, "incomplete-record",
           "records lack a field that they need and were skipped",
           "record the run again with this version of attnscope");
    report(wrong_type_, DiagnosticLevel::warning, "wrong-type",
           "records hold a field of a wrong type or range, taken as absent",
           "record the run again with this version of attnscope");
    check_end(end_is_last);
}

void FileReader::take(Record& r) {
    const std::string_view type = r.type();
    if (type == "kernel") return take_launch(r, LaunchKind::kernel);
    if (type == "memcpy") return take_launch(r, LaunchKind::memcpy);
    if (type == "memset") return take_launch(r, LaunchKind::memset);
    if (type == "library_call") return take_launch(r, LaunchKind::library_call);
    if (type == "range") return take_range(r);
    if (type == "range_end") return take_range_end(r);
    if (type == "name") return take_name(r);
    if (type == "process") return take_process(r);
    if (type == "library") return take_library(r);
    if (type == "device") return take_device(r);
    if (type == "uncomputed_read") return take_read(r);
    if (type == "diagnostic") return take_diagnostic(r);
    if (type == "end") return take_end(r);
    if (type == "mark") {
        out_.marks.push_back({std::string(r.text("name").value_or("")), kNone});
        mark_range_.push_back(r.u64("range"));
    } else if (type == "assumed") {
        const auto device = r.u32("device");
        out_.assumed.push_back({device && *device <= INT32_MAX ? static_cast<int32_t>(*device) : -1,
                                std::string(r.text("key").value_or(""))});
    }
    // Any other type belongs to a later minor version.
}

void FileReader::take_process(Record& r) {
    if (saw_process_) return duplicate_.add(line_, "process");
    saw_process_ = true;
    refuse_newer(r.text("version").value_or(""), path_.string());
    if (const auto word = r.text("ground")) {
        if (const auto ground = ground_of(*word))
            out_.ground = *ground;
        else
            add(DiagnosticLevel::warning, "unknown-ground",
                out_.file + ": unknown ground \"" + std::string(*word) + "\": taken as virtual, the weakest",
                "read the run with the version of attnscope that recorded it");
    }
    out_.host = r.text("host").value_or("");
    out_.executable = r.text("executable").value_or("");
    out_.command = r.texts("command");
    out_.pid = r.u64("pid");
    out_.rank = r.u64("rank");
    out_.start_unix_ns = r.u64("start_unix_ns");
    out_.cuda_driver = r.u64("cuda_driver");
    out_.cuda_runtime = r.u64("cuda_runtime");
    out_.cupti = r.u64("cupti");
}

void FileReader::take_library(Record& r) {
    out_.libraries.push_back({std::string(r.text("name").value_or("")),
                              std::string(r.text("path").value_or("")),
                              std::string(r.text("version").value_or(""))});
}

void FileReader::take_device(Record& r) {
    Device d;
    const auto ordinal = r.u32("device");
    if (!ordinal || *ordinal > INT32_MAX) return incomplete_.add(line_, "device without its ordinal");
    d.ordinal = static_cast<int32_t>(*ordinal);
    if (out_.device(d.ordinal)) return duplicate_.add(line_, "device " + std::to_string(d.ordinal));
    d.id = r.text("id").value_or("");
    d.name = r.text("name").value_or("");
    d.chip = r.text("chip").value_or("");
    if (const auto word = r.text("ground")) d.ground = ground_of(*word);
    d.major = r.u32("compute_major");
    d.minor = r.u32("compute_minor");
    d.sm_count = r.u32("sm_count");
    d.warp_size = r.u32("warp_size");
    d.max_threads_per_sm = r.u32("max_threads_per_sm");
    d.max_ctas_per_sm = r.u32("max_ctas_per_sm");
    d.max_threads_per_cta = r.u32("max_threads_per_cta");
    d.registers_per_sm = r.u32("registers_per_sm");
    d.registers_per_cta = r.u32("registers_per_cta");
    d.shared_per_sm = r.u32("shared_per_sm");
    d.shared_per_cta = r.u32("shared_per_cta");
    d.shared_per_cta_optin = r.u32("shared_per_cta_optin");
    d.shared_reserved_per_cta = r.u32("shared_reserved_per_cta");
    d.l2_bytes = r.u64("l2_bytes");
    d.memory_bytes = r.u64("memory_bytes");
    d.dram_bytes_per_second = r.u64("dram_bytes_per_second");
    d.core_clock_khz = r.u64("core_clock_khz");
    out_.devices.push_back(std::move(d));
}

void FileReader::take_name(Record& r) {
    const auto id = r.u64("id");
    const auto name = r.text("name");
    if (!id || !name) return incomplete_.add(line_, "name");
    if (!name_index_.emplace(*id, static_cast<uint32_t>(out_.names.size())).second)
        return duplicate_.add(line_, "name " + std::to_string(*id));
    out_.names.emplace_back(*name);
}

void FileReader::take_range(Record& r) {
    const auto id = r.u64("id");
    if (!id) return incomplete_.add(line_, "range");
    if (!range_index_.emplace(*id, static_cast<uint32_t>(out_.ranges.size())).second)
        return duplicate_.add(line_, "range " + std::to_string(*id));
    Range range;
    range.id = *id;
    range.name = r.text("name").value_or("");
    range.process_wide = r.text("kind") == "process";
    range.start_ns = r.u64("start_ns");
    out_.ranges.push_back(std::move(range));
    range_parent_.push_back(r.u64("parent"));
}

void FileReader::take_range_end(Record& r) {
    const auto id = r.u64("id");
    if (!id) return incomplete_.add(line_, "range_end");
    range_ends_.emplace_back(*id, r.u64("end_ns"));
}

void FileReader::take_launch(Record& r, LaunchKind kind) {
    const auto correlation = r.u64("correlation");
    if (!correlation) return incomplete_.add(line_, std::string(r.type()) + " without correlation");
    Launch launch;
    launch.kind = kind;
    launch.correlation = *correlation;
    const auto device = r.u32("device");
    if (device && *device <= INT32_MAX) launch.device = static_cast<int32_t>(*device);
    launch.stream = r.u64("stream");
    launch.thread = r.u64("thread");
    const auto start = r.u64("start_ns"), end = r.u64("end_ns");
    // 0 is CUPTI's "not collected"; half a pair says nothing.
    if (start && end && *start != 0 && *end >= *start) {
        launch.start_ns = start;
        launch.end_ns = end;
    }
    const auto graph = r.u64("graph");
    launch.in_graph = graph && *graph != 0;
    std::optional<uint64_t> name;
    if (kind == LaunchKind::kernel) {
        name = r.u64("name");
        take_kernel(r, launch);
    } else if (kind == LaunchKind::library_call) {
        take_library_call(r, launch);
    } else {
        launch.bytes = r.u64("bytes");
        if (const auto word = r.text("copy_kind")) {
            auto [it, fresh] = copy_kind_index_.emplace(*word, static_cast<uint32_t>(out_.copy_kinds.size()));
            if (fresh) out_.copy_kinds.emplace_back(*word);
            launch.copy_kind = it->second;
        }
    }
    out_.launches.push_back(launch);
    launch_name_.push_back(name);
    launch_range_.push_back(r.u64("range"));
}

bool take_dim(Record& r, const char* x, const char* y, const char* z, Dim3& out) {
    const auto dx = r.u32(x), dy = r.u32(y), dz = r.u32(z);
    if (!dx || !dy || !dz) return false;
    out = {*dx, *dy, *dz};
    return true;
}

void FileReader::take_kernel(Record& r, Launch& launch) {
    launch.has_grid = take_dim(r, "grid_x", "grid_y", "grid_z", launch.grid);
    launch.has_block = take_dim(r, "block_x", "block_y", "block_z", launch.block);
    launch.has_cluster = take_dim(r, "cluster_x", "cluster_y", "cluster_z", launch.cluster);
    launch.registers = r.u32("registers");
    launch.static_shared = r.u32("static_shared");
    launch.dynamic_shared = r.u32("dynamic_shared");
    launch.local_per_thread = r.u32("local_per_thread");
}

void FileReader::take_library_call(Record& r, Launch& launch) {
    LibraryCall call;
    call.library = r.text("library").value_or("");
    call.function = r.text("function").value_or("");
    call.operation = r.text("operation").value_or("");
    call.attributes = r.others({"type", "correlation", "library", "function", "operation", "device", "stream",
                                "thread", "range", "start_ns", "end_ns", "context"});
    launch.call = static_cast<uint32_t>(out_.calls.size());
    out_.calls.push_back(std::move(call));
}

void FileReader::take_read(Record& r) {
    UncomputedRead read;
    read.cause = r.text("cause").value_or("");
    read.returned = r.text("returned").value_or("");
    read.location = r.text("location").value_or("");
    read.bytes = r.u64("bytes");
    read.count = r.u64("count").value_or(1);
    out_.uncomputed_reads.push_back(std::move(read));
    read_range_.push_back(r.u64("range"));
}

void FileReader::take_diagnostic(Record& r) {
    add(level_of(r.text("severity").value_or("")), std::string(r.text("code").value_or("")),
        std::string(r.text("message").value_or("")), std::string(r.text("remedy").value_or("")),
        r.u64("count").value_or(1));
}

void FileReader::take_end(Record& r) {
    out_.end = EndCounts{r.u64("kernels"), r.u64("memcpys"), r.u64("memsets"), r.u64("library_calls"),
                         r.u64("dropped")};
}

/// Ids become indices, launches the order of issue.
void FileReader::resolve() {
    const auto look_up = [&](const std::unordered_map<uint64_t, uint32_t>& index, std::optional<uint64_t> id,
                             const char* what) {
        if (!id) return kNone;
        const auto found = index.find(*id);
        if (found != index.end()) return found->second;
        if (unknown_id_.count++ == 0) unknown_id_.first = std::string(what) + " " + std::to_string(*id);
        return kNone;
    };
    for (size_t i = 0; i < out_.ranges.size(); ++i)
        out_.ranges[i].parent = look_up(range_index_, range_parent_[i], "range");
    for (const auto& [id, end_ns] : range_ends_) {
        const uint32_t at = look_up(range_index_, id, "range");
        if (at == kNone) continue;
        out_.ranges[at].ended = true;
        out_.ranges[at].end_ns = end_ns;
    }
    for (size_t i = 0; i < out_.launches.size(); ++i) {
        out_.launches[i].range = look_up(range_index_, launch_range_[i], "range");
        out_.launches[i].name = look_up(name_index_, launch_name_[i], "name");
    }
    for (size_t i = 0; i < out_.marks.size(); ++i)
        out_.marks[i].range = look_up(range_index_, mark_range_[i], "range");
    for (size_t i = 0; i < out_.uncomputed_reads.size(); ++i)
        out_.uncomputed_reads[i].range = look_up(range_index_, read_range_[i], "range");
    // Stable: the kernels of one graph launch share a correlation and stand in the order of their nodes.
    std::stable_sort(out_.launches.begin(), out_.launches.end(),
                     [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; });
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

}  // namespace

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
    FileReader(path, process).read(file.get());
    return process;
}

}  // namespace attnscope::run_reader
