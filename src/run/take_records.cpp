// One record each -> the Process. What a record lacks stays absent.
#include <algorithm>

#include "file_reader.h"
#include "process_file.h"

namespace attnscope::run_reader {

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
    if (type == "operation") return take_operation(r);
    if (type == "attention_choice") return take_choice(r);
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
    if (const auto word = r.text("collection")) {
        if (*word == "counters")
            out_.collection = Collection::counters;
        else if (*word != "activity")
            add(DiagnosticLevel::warning, "unknown-collection",
                out_.file + ": unknown collection \"" + std::string(*word) + "\": taken as activity records",
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
    d.uuid = r.text("uuid").value_or("");
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
    launch.times = std::max<uint64_t>(r.u64("times").value_or(1), 1);
    const auto graph = r.u64("graph");
    launch.in_graph = graph && *graph != 0;
    launch.graph_node = r.u64("graph_node");
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
    launch.operation_call = r.u64("op_call").value_or(0);
    out_.launches.push_back(std::move(launch));
    refer(&Launch::range, range_index_, r.u64("range"), "range");
    refer(&Launch::process_range, range_index_, r.u64("process_range"), "range");
    refer(&Launch::name, name_index_, name, "name");
    refer(&Launch::operation, operation_index_, r.u64("op"), "operation");
}

void FileReader::refer(uint32_t Launch::*field, const std::unordered_map<uint64_t, uint32_t>& index,
                       std::optional<uint64_t> id, const char* what) {
    if (!id) return;
    if (const auto found = index.find(*id); found != index.end())
        out_.launches.back().*field = found->second;
    else
        references_.push_back({out_.launches.size() - 1, field, &index, *id, what});
}

static bool take_dim(Record& r, const char* x, const char* y, const char* z, Dim3& out) {
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
    launch.uncounted = r.text("uncounted").value_or("");
    launch.shared = r.u32("shared");
    launch.reported_occupancy = r.number("reported_occupancy");
}

void FileReader::take_library_call(Record& r, Launch& launch) {
    LibraryCall call;
    call.library = r.text("library").value_or("");
    call.function = r.text("function").value_or("");
    call.operation = r.text("operation").value_or("");
    call.attributes =
        r.others({"type", "correlation", "library", "function", "operation", "device", "stream", "thread",
                  "range", "process_range", "op", "op_call", "domain", "start_ns", "end_ns", "context"});
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
    out_.diagnostics.push_back(diagnostic_of(r));
}

void FileReader::take_end(Record& r) {
    out_.end = EndCounts{r.u64("kernels"), r.u64("memcpys"), r.u64("memsets"), r.u64("library_calls"),
                         r.u64("dropped")};
}

}  // namespace attnscope::run_reader
