// Nsight Compute's CSV (`ncu --csv`): the details page with a row a metric, and the raw page with a column a
// metric and a row of units under the header. Rows can be shorter than the header, and the program's output
// and ncu's own ==PROF== lines stand between them. Kernels were run one by one and replayed for each pass:
// what they took then is not the program's time, so launches have none, and gpu__time_duration is a counter.
#include "nsight_compute.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <unordered_set>

#include "attnscope/error.h"
#include "csv.h"
#include "finish.h"
#include "nsight_compute_names.h"
#include "timeline.h"
#include "units.h"

namespace attnscope::importer {
namespace {

/// The start of the header's line, quoted as ncu writes it, or bare as other tools write it again.
bool is_header(std::string_view line) {
    return line.starts_with("\"ID\",\"") || line.starts_with("ID,Process ID,") ||
           line.starts_with("ID,Kernel");
}

struct Column {
    std::string name, unit;
};

/// One kernel launch as its rows are read.
struct KernelRow {
    Launch launch;
    CounterSet values;
};

struct ProcessRows {
    Process process;
    std::vector<KernelRow> kernels;
    std::map<std::string, size_t, std::less<>> by_id;
    Texts names, metrics;
    std::unordered_set<uint64_t> seen;  ///< correlation and metric of each value
};

class ComputeReader {
  public:
    explicit ComputeReader(Input& input) : input_(input) {}

    std::vector<Process> read() {
        skip_to_header();
        bool whole = true;
        while (next_row(whole)) take_row();
        if (!whole && !cells_.empty()) cut_.add("byte " + std::to_string(input_.bytes.offset()));
        return finish();
    }

  private:
    void skip_to_header() {
        std::string_view line;
        while (true) {
            while (input_.bytes.size() < 64 && input_.bytes.more()) {
            }
            if (is_header(input_.bytes.view().substr(0, 64))) break;
            if (!next_line(input_.bytes, line)) break;
            note(line);
        }
        bool whole = true;
        if (next_record(input_.bytes, cells_, whole)) take_header();
    }

    /// ncu's own lines tell what went wrong.
    void note(std::string_view line) {
        if (line.starts_with("==ERROR==")) errors_.add(valid_utf8(std::string(line.substr(0, 300))));
    }

    /// The next line that is a row; other output is passed over.
    bool next_row(bool& whole) {
        while (true) {
            if (input_.bytes.size() == 0 && !input_.bytes.more()) return false;
            const char first = *input_.bytes.begin();
            if (first == '"' || (first >= '0' && first <= '9'))
                return next_record(input_.bytes, cells_, whole);
            std::string_view line;
            if (!next_line(input_.bytes, line)) return false;
            note(line);
        }
    }

    void take_header() {
        columns_.clear();
        column_of_.clear();
        for (const std::string& cell : cells_) {
            column_of_.try_emplace(cell, columns_.size());
            columns_.push_back({cell, ""});
        }
        details_ = find("Metric Name") != columns_.size() && find("Metric Value") != columns_.size();
    }

    size_t find(std::string_view name) const {
        const auto found = column_of_.find(name);
        return found == column_of_.end() ? columns_.size() : found->second;
    }
    std::string_view cell(std::string_view name) const {
        const size_t at = find(name);
        return at < cells_.size() ? std::string_view(cells_[at]) : std::string_view();
    }

    void take_row() {
        if (cells_.size() > 1 && cells_[0] == "ID") return take_header();  // two outputs in one file
        if (cells_[0].empty()) {
            // The raw page's units, under its header.
            for (size_t i = 0; !details_ && i < std::min(cells_.size(), columns_.size()); ++i)
                columns_[i].unit = cells_[i];
            return;
        }
        if (cells_[0].find_first_not_of("0123456789") != std::string::npos || cells_.size() < 3)
            return strange_.add("byte " + std::to_string(input_.bytes.offset()));
        KernelRow& kernel = kernel_of();
        if (!details_) return take_raw(kernel);
        const std::string_view metric = cell("Metric Name");
        if (metric.empty()) return;  // a rule's advice
        const std::string_view unit = cell("Metric Unit");
        const std::string_view name = nsight_compute_name(cell("Section Name"), metric, base_unit(unit));
        if (name.empty()) {
            unnamed_.add(std::string(cell("Section Name")) + ": " + std::string(metric));
            return;
        }
        take_value(kernel, name, cell("Metric Value"), unit);
    }

    /// Launches are told apart by process and ID; an ID that comes again for another kernel is another launch
    /// (files that were put together).
    KernelRow& kernel_of() {
        ProcessRows& rows = processes_[std::string(cell("Process ID"))];
        current_ = &rows;
        const std::string name = valid_utf8(std::string(cell("Kernel Name")));
        const std::string key = cells_[0] + '\n' + name;
        const auto [found, fresh] = rows.by_id.try_emplace(key, rows.kernels.size());
        if (!fresh) return rows.kernels[found->second];
        KernelRow kernel;
        kernel.launch.correlation = rows.kernels.size() + 1;
        if (!name.empty()) kernel.launch.name = rows.names.add(name);
        kernel.launch.stream = natural(cell("Stream"));
        const auto device = natural(cell("Device"));
        if (device && *device <= INT32_MAX) kernel.launch.device = static_cast<int32_t>(*device);
        if (find("Device") == columns_.size()) kernel.launch.device = 0;  // the older header: one is meant
        kernel.launch.has_grid = take_dim(cell("Grid Size"), kernel.launch.grid);
        kernel.launch.has_block = take_dim(cell("Block Size"), kernel.launch.block);
        add_device(rows.process, kernel.launch.device, cell("CC"));
        rows.kernels.push_back(std::move(kernel));
        return rows.kernels.back();
    }

    static std::optional<uint64_t> natural(std::string_view text) {
        const auto value = grouped_number(text);
        if (!value || *value < 0 || *value > 9e15 || *value != std::floor(*value)) return std::nullopt;
        return static_cast<uint64_t>(*value);
    }

    /// "(4, 12, 54)", or the total alone.
    bool take_dim(std::string_view text, Dim3& out) {
        std::array<uint64_t, 3> numbers{1, 1, 1};
        size_t count = 0;
        for (size_t i = 0; i < text.size() && count < 3;) {
            if (text[i] < '0' || text[i] > '9') {
                ++i;
                continue;
            }
            const auto read = std::from_chars(text.data() + i, text.data() + text.size(), numbers[count]);
            if (read.ec != std::errc()) return false;
            i = static_cast<size_t>(read.ptr - text.data());
            ++count;
        }
        if (count != 1 && count != 3) return false;
        for (size_t i = 0; i < 3; ++i) {
            if (numbers[i] == 0 || numbers[i] > INT32_MAX) return false;
            out[i] = static_cast<uint32_t>(numbers[i]);
        }
        if (count == 1) totals_.add("");
        return true;
    }

    static void add_device(Process& process, int32_t ordinal, std::string_view capability) {
        if (ordinal < 0 || process.device(ordinal) || process.devices.size() == kMostDevices) return;
        Device device;
        device.ordinal = ordinal;
        uint32_t major = 0, minor = 0;
        const char* const end = capability.data() + capability.size();
        const auto read = std::from_chars(capability.data(), end, major);
        if (read.ec == std::errc() && major > 0 && read.ptr != end && *read.ptr == '.' &&
            std::from_chars(read.ptr + 1, end, minor).ec == std::errc()) {
            device.major = major;
            device.minor = minor;
        }
        process.devices.push_back(std::move(device));
    }

    void take_raw(KernelRow& kernel) {
        for (size_t i = 0; i < std::min(cells_.size(), columns_.size()); ++i)
            if (columns_[i].name.find("__") != std::string::npos ||
                columns_[i].name == "thread_inst_executed")
                take_value(kernel, columns_[i].name, cells_[i], columns_[i].unit);
    }

    void take_value(KernelRow& kernel, std::string_view name, std::string_view text, std::string_view unit) {
        if (name.starts_with("device__attribute_")) return take_device_figure(kernel, name.substr(18), text);
        // "1,024.00 (512.00; 512.00)": the total, then its instances.
        const std::string_view total = text.substr(0, text.find(" ("));
        auto number = grouped_number(total);
        if (number) number = *number * unit_scale(unit);
        if (number && !std::isfinite(*number)) number.reset();
        if (number && name.starts_with("launch__")) take_launch_figure(kernel.launch, name, *number);
        CounterValue value;
        value.metric = current_->metrics.add(name);
        if (number && *number >= 0)
            value.value = number;
        else if (text.find(';') != std::string_view::npos)
            value.absent = "the file holds its instances, not its total";
        else
            value.absent = text.empty() ? "the file holds no value"
                                        : "the file says " + valid_utf8(std::string(text.substr(0, 60)));
        // Asked for by name and shown in a section: the first counts.
        if (current_->seen.insert(kernel.launch.correlation << 32 | value.metric).second)
            kernel.values.push_back(std::move(value));
    }

    void take_launch_figure(Launch& launch, std::string_view name, double number) {
        if (!(number >= 0) || number > INT32_MAX) return;
        const auto n = static_cast<uint32_t>(number);
        if (name == "launch__registers_per_thread" && n > 0) launch.registers = n;
        if (name == "launch__shared_mem_per_block_static") launch.static_shared = n;
        if (name == "launch__shared_mem_per_block_dynamic") launch.dynamic_shared = n;
        if (name == "launch__block_size" && n > 0 && !launch.has_block) {
            launch.has_block = true;
            launch.block = {n, 1, 1};
            totals_.add("");
        }
        if (name == "launch__grid_size" && n > 0 && !launch.has_grid) {
            launch.has_grid = true;
            launch.grid = {n, 1, 1};
        }
    }

    void take_device_figure(KernelRow& kernel, std::string_view name, std::string_view text) {
        for (Device& d : current_->process.devices) {
            if (d.ordinal != kernel.launch.device) continue;
            const auto number = natural(text);
            const auto set = [&](const char* key, auto& figure) {
                using Figure = typename std::decay_t<decltype(figure)>::value_type;
                if (name == key && number && *number <= INT32_MAX) figure = static_cast<Figure>(*number);
            };
            if (name == "display_name") d.name = valid_utf8(std::string(text));
            set("compute_capability_major", d.major);
            set("compute_capability_minor", d.minor);
            set("multiprocessor_count", d.sm_count);
            set("warp_size", d.warp_size);
            set("max_threads_per_multiprocessor", d.max_threads_per_sm);
            set("max_blocks_per_multiprocessor", d.max_ctas_per_sm);
            set("max_threads_per_block", d.max_threads_per_cta);
            set("max_registers_per_multiprocessor", d.registers_per_sm);
            set("max_registers_per_block", d.registers_per_cta);
            set("max_shared_memory_per_multiprocessor", d.shared_per_sm);
            set("max_shared_memory_per_block", d.shared_per_cta);
            set("max_shared_memory_per_block_optin", d.shared_per_cta_optin);
            set("reserved_shared_memory_per_block", d.shared_reserved_per_cta);
            set("l2_cache_size", d.l2_bytes);
            set("clock_rate", d.core_clock_khz);
            return;
        }
    }

    std::vector<Process> finish() {
        std::vector<Process> out;
        for (auto& [pid, rows] : processes_) {
            Process& p = rows.process;
            p.file = input_.name + (processes_.size() > 1 ? "-" + pid : "");
            p.pid = natural(pid);
            p.collection = Collection::counters;
            p.counter_ground = Ground::imported;
            for (KernelRow& kernel : rows.kernels) {
                if (!kernel.values.empty()) {
                    kernel.launch.counters = static_cast<uint32_t>(p.counters.size());
                    p.counters.push_back(std::move(kernel.values));
                }
                p.launches.push_back(std::move(kernel.launch));
            }
            p.names = rows.names.take();
            p.metrics = rows.metrics.take();
            for (Device& d : p.devices) complete_device(d, p.diagnostics);
            if (out.empty()) report(p.diagnostics);
            close(p);
            out.push_back(std::move(p));
        }
        if (out.empty())
            throw Error(input_.name + ": Nsight Compute's table holds no kernel" +
                        (errors_.count ? ": " + errors_.first : "") +
                        ": check that the program launches kernels under `ncu`, and profile again");
        return out;
    }

    void report(std::vector<Diagnostic>& out) const {
        const std::string problem = input_.bytes.source().problem();
        cut_.report(
            out, DiagnosticLevel::data_loss, "import-cut-short",
            input_.name + ": the file is cut short inside a row; how many rows are missing is not known",
            "copy the file again");
        if (!problem.empty())
            out.push_back({DiagnosticLevel::data_loss, "import-cut-short", input_.name + ": " + problem,
                           "copy the file again", 1});
        errors_.report(out, DiagnosticLevel::data_loss, "import-profiler-error",
                       input_.name + ": Nsight Compute reported errors: kernels may be missing",
                       "read its ==ERROR== lines and profile again");
        strange_.report(out, DiagnosticLevel::data_loss, "import-damaged",
                        input_.name + ": rows begin with no ID and were passed over", "copy the file again");
        unnamed_.report(out, DiagnosticLevel::info, "import-unnamed-metrics",
                        input_.name + ": values have a title, but no CUPTI name that is known here: left out",
                        "export the raw page, which has every name: ncu --import FILE --csv --page raw");
        totals_.report(out, DiagnosticLevel::info, "import-total-geometry",
                       input_.name + ": grid and block are given as totals, their shape is not: all is in x",
                       "");
    }

    Input& input_;
    std::vector<std::string> cells_;
    std::vector<Column> columns_;
    std::map<std::string, size_t, std::less<>> column_of_;
    bool details_ = false;
    std::map<std::string, ProcessRows> processes_;  ///< by process id, as text
    ProcessRows* current_ = nullptr;
    Count cut_, errors_, strange_, unnamed_, totals_;
};

}  // namespace

bool is_nsight_compute(std::string_view head) {
    return any_line(head, is_header);
}

void read_nsight_compute(Input& input, Imported& out) {
    for (Process& process : ComputeReader(input).read()) out.processes.push_back(std::move(process));
    out.counters_range = "kernel";
    out.replayed = true;
}

}  // namespace attnscope::importer
