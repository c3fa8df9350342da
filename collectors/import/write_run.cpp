// A Run -> its folder (schema/README.md). Indices become ids from 1.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "attnscope/error.h"
#include "cupti/json_line.h"
#include "write_run.h"

namespace attnscope::importer {
namespace {

using Line = collector::JsonLine;
namespace fs = std::filesystem;

/// A file that is written block by block.
class Output {
  public:
    explicit Output(const fs::path& path) : path_(path), file_(std::fopen(path.c_str(), "wb"), &std::fclose) {
        if (!file_) fail();
    }
    std::string& text() {
        if (text_.size() >= kBlock) flush();
        return text_;
    }
    void close() {
        flush();
        if (std::fclose(file_.release()) != 0) fail();
    }

  private:
    static constexpr size_t kBlock = size_t{1} << 20;
    void flush() {
        if (std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) fail();
        text_.clear();
    }
    [[noreturn]] void fail() const {
        throw Error(path_.string() + ": cannot be written: " + std::strerror(errno) +
                    ": check the disk and its permissions");
    }
    const fs::path& path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::string text_;
};

template <typename T>
void known(Line& line, std::string_view key, const std::optional<T>& value) {
    if (value) line.number(key, *value);
}

std::string real_number(double value) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void dim(Line& line, bool has, const char* prefix, const Dim3& value) {
    if (!has) return;
    for (size_t i = 0; i < 3; ++i) line.number(std::string(prefix) + "_" + "xyz"[i], value[i]);
}

void write_device(std::string& out, const Device& d) {
    Line line(out, "device");
    line.number("device", d.ordinal);
    line.known("id", d.id).known("name", d.name).known("uuid", d.uuid).known("chip", d.chip);
    line.text("ground", to_string(Ground::imported));
    known(line, "compute_major", d.major);
    known(line, "compute_minor", d.minor);
    known(line, "sm_count", d.sm_count);
    known(line, "warp_size", d.warp_size);
    known(line, "max_threads_per_sm", d.max_threads_per_sm);
    known(line, "max_ctas_per_sm", d.max_ctas_per_sm);
    known(line, "max_threads_per_cta", d.max_threads_per_cta);
    known(line, "registers_per_sm", d.registers_per_sm);
    known(line, "registers_per_cta", d.registers_per_cta);
    known(line, "shared_per_sm", d.shared_per_sm);
    known(line, "shared_per_cta", d.shared_per_cta);
    known(line, "shared_per_cta_optin", d.shared_per_cta_optin);
    known(line, "shared_reserved_per_cta", d.shared_reserved_per_cta);
    known(line, "l2_bytes", d.l2_bytes);
    known(line, "memory_bytes", d.memory_bytes);
    known(line, "dram_bytes_per_second", d.dram_bytes_per_second);
    known(line, "core_clock_khz", d.core_clock_khz);
    line.end();
}

void write_launch(std::string& out, const Process& p, const Launch& l) {
    static constexpr const char* types[] = {"kernel", "memcpy", "memset", "library_call"};
    Line line(out, types[static_cast<size_t>(l.kind)]);
    line.number("correlation", l.correlation);
    if (l.name != kNone) line.number("name", uint64_t{l.name} + 1);
    if (l.device >= 0) line.number("device", l.device);
    known(line, "stream", l.stream);
    known(line, "thread", l.thread);
    if (l.range != kNone) line.number("range", p.ranges[l.range].id);
    if (l.operation != kNone) line.number("op", p.operations[l.operation].id);
    if (l.operation_call != 0) line.number("op_call", l.operation_call);
    if (l.copy_kind != kNone) line.text("copy_kind", p.copy_kinds[l.copy_kind]);
    dim(line, l.has_grid, "grid", l.grid);
    dim(line, l.has_block, "block", l.block);
    dim(line, l.has_cluster, "cluster", l.cluster);
    known(line, "registers", l.registers);
    known(line, "static_shared", l.static_shared);
    known(line, "dynamic_shared", l.dynamic_shared);
    known(line, "shared", l.shared);
    known(line, "local_per_thread", l.local_per_thread);
    known(line, "bytes", l.bytes);
    if (l.in_graph) line.number("graph", 1);
    known(line, "graph_node", l.graph_node);
    known(line, "start_ns", l.start_ns);
    known(line, "end_ns", l.end_ns);
    if (l.times != 1) line.number("times", l.times);
    if (l.reported_occupancy) line.raw("reported_occupancy", real_number(*l.reported_occupancy));
    line.end();
}

void write_range(std::string& out, const Process& p, const Range& r) {
    Line line(out, "range");
    line.number("id", r.id);
    if (r.parent != kNone) line.number("parent", p.ranges[r.parent].id);
    line.text("kind", r.process_wide ? "process" : "thread").text("name", r.name);
    known(line, "start_ns", r.start_ns);
    line.end();
    if (!r.ended) return;
    Line end(out, "range_end");
    end.number("id", r.id);
    known(end, "end_ns", r.end_ns);
    end.end();
}

void write_operation(std::string& out, const Process& p, const Operation& o) {
    Line line(out, "operation");
    line.number("id", o.id);
    if (o.parent != kNone) line.number("parent", p.operations[o.parent].id);
    line.text("name", o.name).text("scope", o.backward ? "backward" : "function");
    if (!o.inputs.empty()) line.texts("inputs", o.inputs);
    line.end();
}

void write_diagnostic(std::string& out, const Diagnostic& d) {
    Line(out, "diagnostic")
        .text("severity", to_string(d.level))
        .text("code", d.code)
        .text("message", d.message)
        .known("remedy", d.remedy)
        .number("count", d.count)
        .end();
}

void write_process(const fs::path& path, const Process& p) {
    Output file(path);
    Line process(file.text(), "process");
    process.text("schema", "attnscope-run").text("version", kVersion).text("attnscope", ATTNSCOPE_VERSION);
    process.text("ground", to_string(Ground::imported));
    process.text("collection", p.collection == Collection::counters ? "counters" : "activity");
    process.known("host", p.host);
    known(process, "pid", p.pid);
    process.known("executable", p.executable);
    known(process, "cuda_driver", p.cuda_driver);
    known(process, "cuda_runtime", p.cuda_runtime);
    known(process, "cupti", p.cupti);
    known(process, "rank", p.rank);
    process.end();
    for (const Device& d : p.devices) write_device(file.text(), d);
    for (size_t i = 0; i < p.names.size(); ++i)
        Line(file.text(), "name").number("id", i + 1).text("name", p.names[i]).end();
    for (const Range& r : p.ranges) write_range(file.text(), p, r);
    for (const Operation& o : p.operations) write_operation(file.text(), p, o);
    for (const Launch& l : p.launches) write_launch(file.text(), p, l);
    for (const Diagnostic& d : p.diagnostics) write_diagnostic(file.text(), d);
    Line end(file.text(), "end");
    const EndCounts counts = p.end.value_or(EndCounts{});
    known(end, "kernels", counts.kernels);
    known(end, "memcpys", counts.memcpys);
    known(end, "memsets", counts.memsets);
    known(end, "library_calls", counts.library_calls);
    known(end, "dropped", counts.dropped);
    end.end();
    file.close();
}

void write_values(std::string& out, const CounterSet& set, const Launch* launch, const Range* range) {
    for (const CounterValue& v : set) {
        Line line(out, "counter");
        if (launch) {
            line.number("correlation", launch->correlation);
            known(line, "graph_node", launch->graph_node);
        } else {
            line.number("range", range->id);
        }
        line.number("metric", uint64_t{v.metric} + 1);
        if (v.value)
            line.raw("value", real_number(*v.value));
        else
            line.text("absent", v.absent);
        line.end();
    }
}

void write_counters(const fs::path& path, const Process& p, const std::string& chip) {
    Output file(path);
    Line(file.text(), "counters")
        .text("schema", "attnscope-counters")
        .text("version", kVersion)
        .text("attnscope", ATTNSCOPE_VERSION)
        .text("process", p.file)
        .text("ground", to_string(Ground::imported))
        .end();
    for (size_t i = 0; i < p.metrics.size(); ++i)
        Line(file.text(), "metric").number("id", i + 1).text("name", p.metrics[i]).known("chip", chip).end();
    uint64_t values = 0;
    for (const Launch& l : p.launches)
        if (l.counters != kNone) {
            write_values(file.text(), p.counters[l.counters], &l, nullptr);
            values += p.counters[l.counters].size();
        }
    for (const Range& r : p.ranges)
        if (r.counters != kNone) {
            write_values(file.text(), p.counters[r.counters], nullptr, &r);
            values += p.counters[r.counters].size();
        }
    Line(file.text(), "end").number("images", 0).number("counters", values).number("unjoined", 0).end();
    file.close();
}

/// The schema's run.json as one line: JsonLine's own `type` field is harmless to readers.
void write_summary(const fs::path& path, const Run& run) {
    Output file(path);
    std::string& out = file.text();
    Line line(out, "run");
    line.text("schema", "attnscope-run").text("version", kVersion).text("attnscope", ATTNSCOPE_VERSION);
    line.text("ground", to_string(Ground::imported)).text("device_request", "").texts("devices", {});
    line.texts("command", {}).text("started", run.started).text("ended", run.ended);
    std::string files = "[";
    for (const ImportedFile& f : run.imported) {
        files += files.size() > 1 ? ",{\"name\":" : "{\"name\":";
        collector::append_json_string(files, f.name);
        files += ",\"format\":";
        collector::append_json_string(files, f.format);
        files += "}";
    }
    line.raw("imported", files + "]");
    std::string collections = "[";
    for (const Collection c : run.collections)
        collections += std::string(collections.size() > 1 ? "," : "") +
                       (c == Collection::counters ? "\"counters\"" : "\"activity\"");
    line.raw("collections", collections + "]");
    if (!run.counters_range.empty()) {
        std::string counters = "{\"request\":\"\",\"metrics\":[],\"range\":";
        collector::append_json_string(counters, run.counters_range);
        line.raw("counters",
                 counters + ",\"replay\":" + (run.counters_replay ? "true" : "false") + ",\"passes\":{}}");
    }
    std::string diagnostics = "[";
    for (const Diagnostic& d : run.diagnostics) {
        if (diagnostics.size() > 1) diagnostics += ",";
        std::string one;
        write_diagnostic(one, d);
        one.pop_back();
        diagnostics += one;
    }
    if (diagnostics.size() > 1) line.raw("diagnostics", diagnostics + "]");
    line.end();
    file.close();
}

}  // namespace

void write_run(const Run& run, const fs::path& folder) {
    for (const Process& p : run.processes) {
        write_process(folder / p.file, p);
        if (p.counters.empty()) continue;
        const std::string stem = fs::path(p.file).stem().string();
        write_counters(folder / (stem + ".counters.jsonl"), p, p.devices.empty() ? "" : p.devices[0].chip);
    }
    write_summary(folder / "run.json", run);
}

}  // namespace attnscope::importer
