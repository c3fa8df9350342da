// Nsight Systems' SQLite export, of any schema version: columns are found by name and all optional. Times are
// nanoseconds from the start of the session, which can be 0 or negative.
#include "nsight_systems.h"

#include <algorithm>
#include <map>

#include "attnscope/error.h"
#include "finish.h"
#include "microseconds.h"
#include "nsight_systems_devices.h"
#include "sqlite.h"
#include "timeline.h"

namespace attnscope::importer {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kExportAgain =
    "export the report again: nsys export --type sqlite --force-overwrite true FILE";

// Nsight Systems' NVTX event types.
constexpr int64_t kPushPopRange = 59, kStartEndRange = 60;
constexpr size_t kMostName = 4096;  // of a range: a few bytes of the file can name a long text, many times

/// A global process or thread id holds the process id in bits 24 to 47, the thread's below.
uint64_t pid_of(uint64_t global) {
    return global >> 24 & 0xFFFFFF;
}

/// What belongs to one process while the tables are read.
struct Reading {
    Process process;
    Launches launches;
    HostTimeline timeline;
    Texts names;
};

class SystemsReader {
  public:
    explicit SystemsReader(Input& input)
        : input_(input), database_(input.path), strings_(database_, "StringIds") {}

    std::vector<Process> read() {
        if (!is_export())
            throw Error(input_.name +
                        ": an SQLite database, but no Nsight Systems export: make one with `nsys "
                        "export --type sqlite FILE.nsys-rep`");
        read_kernels();
        read_copies("CUPTI_ACTIVITY_KIND_MEMCPY", LaunchKind::memcpy);
        read_copies("CUPTI_ACTIVITY_KIND_MEMSET", LaunchKind::memset);
        read_calls();
        read_annotations();
        return finish();
    }

  private:
    bool is_export() const {
        for (const char* table : {kKernels, "META_DATA_EXPORT", "TARGET_INFO_GPU", "StringIds",
                                  "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"})
            if (database_.has(table)) return true;
        return false;
    }

    /// By process where the export tells them apart, else all is one.
    Reading& reading(std::optional<uint64_t> global) {
        const uint64_t pid = split_ && global ? pid_of(*global) : 0;
        Reading& found = readings_[pid];
        if (split_ && pid != 0) found.process.pid = pid;
        return found;
    }

    void set_time(const Rows& rows, size_t start, size_t end, TimedLaunch& out) {
        const auto from = rows.integer(start), to = rows.integer(end);
        if (!from || !to) return;
        if (*from > kMostNanoseconds || *from < -kMostNanoseconds || *to > kMostNanoseconds || *to < *from)
            return negative_.add("row " + std::to_string(rows.count()));
        out.start = from;
        out.end = to;
    }

    void damaged(const Rows& rows, const char* table) {
        if (!rows.problem().empty())
            shared_.push_back({DiagnosticLevel::data_loss, "import-damaged",
                               input_.name + ": " + table + " can be read up to row " +
                                   std::to_string(rows.count()) + " (" + rows.problem() + ")",
                               kExportAgain, 1});
    }

    /// The best name there is: demangled with its arguments, else mangled, else short.
    std::optional<std::string> kernel_name(const Rows& rows, std::initializer_list<size_t> columns) {
        for (const size_t column : columns) {
            if (const auto text = rows.text(column)) return std::string(*text);
            const auto id = rows.integer(column);
            if (!id) continue;
            const auto known = kernel_names_.find(*id);
            if (known != kernel_names_.end()) return known->second;
            if (auto text = strings_.find(*id))
                return kernel_names_.emplace(*id, valid_utf8(*text)).first->second;
        }
        return std::nullopt;
    }

    static bool dim(const Rows& rows, size_t x, Dim3& out) {
        for (size_t i = 0; i < 3; ++i) {
            const auto n = rows.small(x + i);
            if (!n || *n == 0) return false;
            out[i] = *n;
        }
        return true;
    }

    void read_kernels() {
        enum : size_t {
            start,
            end,
            device,
            stream,
            correlation,
            process,
            demangled,
            mangled,
            short_name,
            registers,
            grid,
            grid_y,
            grid_z,
            block,
            block_y,
            block_z,
            static_shared,
            dynamic_shared,
            local,
            graph_node,
            cluster,
            cluster_y,
            cluster_z
        };
        Rows rows(database_, kKernels,
                  {"start",
                   "end",
                   "deviceId",
                   "streamId",
                   "correlationId",
                   "globalPid",
                   "demangledName",
                   "mangledName",
                   "shortName",
                   "registersPerThread",
                   "gridX",
                   "gridY",
                   "gridZ",
                   "blockX",
                   "blockY",
                   "blockZ",
                   "staticSharedMemory",
                   "dynamicSharedMemory",
                   "localMemoryPerThread",
                   "graphNodeId",
                   "clusterX",
                   "clusterY",
                   "clusterZ"});
        split_ = rows.has_column(process);
        while (rows.next()) {
            Reading& to = reading(rows.natural(process));
            TimedLaunch out;
            Launch& launch = out.launch;
            launch.correlation = rows.natural(correlation).value_or(kNoCorrelation);
            if (const auto n = rows.small(device)) launch.device = static_cast<int32_t>(*n);
            launch.stream = rows.natural(stream);
            set_time(rows, start, end, out);
            if (const auto name = kernel_name(rows, {demangled, mangled, short_name}))
                launch.name = to.names.add(*name);
            launch.registers = rows.small(registers);
            if (launch.registers == 0U) launch.registers.reset();
            launch.has_grid = dim(rows, grid, launch.grid);
            launch.has_block = dim(rows, block, launch.block);
            launch.has_cluster = dim(rows, cluster, launch.cluster);
            launch.static_shared = rows.small(static_shared);
            launch.dynamic_shared = rows.small(dynamic_shared);
            launch.local_per_thread = rows.small(local);
            launch.in_graph = rows.natural(graph_node).value_or(0) != 0;
            to.launches.push_back(std::move(out));
            ++kernels_;
        }
        damaged(rows, kKernels);
    }

    void read_copies(const char* table, LaunchKind kind) {
        enum : size_t { start, end, device, stream, correlation, process, bytes, copied, graph_node };
        Rows rows(database_, table,
                  {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind",
                   "graphNodeId"});
        if (kernels_ == 0 && rows.has_column(process)) split_ = true;
        while (rows.next()) {
            Reading& to = reading(rows.natural(process));
            TimedLaunch out;
            out.launch.kind = kind;
            out.launch.correlation = rows.natural(correlation).value_or(kNoCorrelation);
            if (const auto n = rows.small(device)) out.launch.device = static_cast<int32_t>(*n);
            out.launch.stream = rows.natural(stream);
            out.launch.bytes = rows.natural(bytes);
            out.launch.in_graph = rows.natural(graph_node).value_or(0) != 0;
            set_time(rows, start, end, out);
            if (kind == LaunchKind::memcpy)
                set_copy_kind(to.process, out.launch, copy_kind(rows.natural(copied).value_or(0)));
            to.launches.push_back(std::move(out));
        }
        damaged(rows, table);
    }

    /// Where no process has launches of its own, calls and annotations have nothing to say.
    Reading* known(std::optional<uint64_t> global_thread) {
        const auto found = readings_.find(split_ && global_thread ? pid_of(*global_thread) : 0);
        return found == readings_.end() ? nullptr : &found->second;
    }

    void read_calls() {
        enum : size_t { start, correlation, thread };
        Rows rows(database_, "CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "correlationId", "globalTid"});
        while (rows.next()) {
            ++calls_;
            const auto id = rows.natural(correlation), global = rows.natural(thread);
            const auto from = rows.integer(start);
            Reading* to = known(global);
            if (to && id && from && global) to->timeline.call(*global & 0xFFFFFF, *from, *id);
        }
        damaged(rows, "CUPTI_ACTIVITY_KIND_RUNTIME");
    }

    /// What torch.autograd.profiler.emit_nvtx writes is an operation: "aten::mul, seq = 45328, op_id =
    /// 990354".
    static std::optional<std::string_view> operation_name(std::string_view text) {
        const size_t comma = text.find(", ");
        if (comma == std::string_view::npos) return std::nullopt;
        const std::string_view rest = text.substr(comma);
        if (!rest.starts_with(", seq = ") && !rest.starts_with(", op_id = ") &&
            !rest.starts_with(", sizes = "))
            return std::nullopt;
        return text.substr(0, comma);
    }

    static uint32_t no_inputs(HostTimeline& timeline) {
        return timeline.inputs("", [] { return std::vector<std::string>(); });
    }

    void read_annotations() {
        enum : size_t { start, end, type, text, text_id, thread };
        Rows rows(database_, "NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"});
        while (rows.next()) {
            const auto kind = rows.integer(type);
            if (kind && *kind != kPushPopRange && *kind != kStartEndRange) continue;
            const auto from = rows.integer(start), to = rows.integer(end);
            const auto global = rows.natural(thread);
            Reading* owner = known(global);
            if (!owner || !from || !to || !global || *to < *from || *to > kMostNanoseconds ||
                *from < -kMostNanoseconds)
                continue;
            std::string name;
            if (const auto direct = rows.text(text))
                name = *direct;
            else if (const auto id = rows.integer(text_id))
                name = strings_.find(*id).value_or("");
            name.resize(std::min(name.size(), kMostName));
            name = valid_utf8(std::move(name));
            const uint64_t on = *global & 0xFFFFFF;
            if (const auto operation = operation_name(name))
                owner->timeline.operation(on, *from, *to, *operation, no_inputs(owner->timeline),
                                          std::nullopt);
            else if (!name.empty())
                owner->timeline.annotation(on, *from, *to, std::move(name));
        }
        damaged(rows, "NVTX_EVENTS");
    }

    std::vector<Process> finish() {
        if (readings_.empty()) readings_.try_emplace(0);
        negative_.report(shared_, DiagnosticLevel::data_loss, "import-negative-duration",
                         input_.name + ": launches end before they begin: they have no time here",
                         kExportAgain);
        if (kernels_ == 0) no_kernels();
        std::vector<Process> out;
        for (auto& entry : readings_) {
            const uint64_t pid = entry.first;
            Reading& reading = entry.second;
            Process& p = reading.process;
            p.file = input_.name + (readings_.size() > 1 ? "-" + std::to_string(pid) : "");
            add_devices(p, reading.launches, nsight_systems_devices(database_, p.pid));
            std::vector<std::optional<uint64_t>> external;
            const int64_t shift = sort_launches(p, reading.launches, external);
            reading.timeline.resolve(p, external, shift);
            p.names = reading.names.take();
            if (out.empty()) p.diagnostics.insert(p.diagnostics.end(), shared_.begin(), shared_.end());
            close(p);
            out.push_back(std::move(p));
        }
        return out;
    }

    void no_kernels() {
        if (calls_ > 0)
            shared_.push_back(
                {DiagnosticLevel::error, "import-device-side-lost",
                 input_.name + ": " + std::to_string(calls_) +
                     " CUDA calls but no kernels: CUPTI lost the device side",
                 "check that no other profiler holds CUPTI, and profile again: attnscope doctor", calls_});
        else
            shared_.push_back({DiagnosticLevel::error, "import-no-kernels",
                               input_.name +
                                   ": no CUDA kernel was traced (there is no kernel table, or it is "
                                   "empty)",
                               "profile again with CUDA traced: nsys profile --trace=cuda,nvtx PROGRAM", 1});
    }

    Input& input_;
    Database database_;
    StringTable strings_;
    std::map<uint64_t, Reading> readings_;  ///< by process id
    std::map<int64_t, std::string> kernel_names_;
    bool split_ = false;
    uint64_t kernels_ = 0, calls_ = 0;
    Count negative_;
    std::vector<Diagnostic> shared_;
};

}  // namespace

bool is_nsight_systems(std::string_view head) {
    return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

void read_nsight_systems(Input& input, Imported& out) {
    if (input.path.empty())
        throw Error(input.name +
                    ": an SQLite database inside of something compressed: unpack it, and import "
                    "the file itself");
    for (Process& process : SystemsReader(input).read()) out.processes.push_back(std::move(process));
}

}  // namespace attnscope::importer
