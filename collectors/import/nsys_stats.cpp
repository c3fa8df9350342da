// What `nsys stats` prints, as CSV or as text with columns under dashes: sums over launches, not launches. A
// row of the kernel table becomes one record that stands for all its launches; their order, geometry and
// single durations are not known. Other tables (API calls, the operating system's) are passed over.
#include "nsys_stats.h"

#include <algorithm>

#include "attnscope/error.h"
#include "csv.h"
#include "finish.h"
#include "microseconds.h"
#include "timeline.h"
#include "units.h"

namespace attnscope::importer {
namespace {

/// A header names its unit: "Total Time (ns)"; before 2021 it had none for nanoseconds.
struct Table {
    size_t total = SIZE_MAX, count = SIZE_MAX, name = SIZE_MAX;
    double ns = 1;  ///< of a unit of `total`
    bool memory = false;
    bool usable() const { return total != SIZE_MAX && count != SIZE_MAX && name != SIZE_MAX; }
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

Table table_of(const std::vector<std::string>& titles) {
    Table table;
    for (size_t i = 0; i < titles.size(); ++i) {
        const std::string_view title = trimmed(titles[i]);
        if (title.starts_with("Total Time")) {
            table.total = i;
            const size_t open = title.find('(');
            const size_t close = title.find(')');
            if (open != std::string_view::npos && close != std::string_view::npos && close > open)
                table.ns = unit_scale(title.substr(open + 1, close - open - 1));
        }
        if (title == "Instances" || title == "Count") table.count = i;
        if (title == "Name" || title == "Operation") table.name = i;
        if (title == "Operation") table.memory = true;
    }
    return table;
}

bool is_title_line(std::string_view line) {
    line = trimmed(line);
    return (line.starts_with("Time (%)") || line.starts_with("Time(%)")) &&
           line.find("Total Time") != std::string_view::npos;
}

/// Start and length of each run of dashes: the columns of a text table. Empty where the line is none.
std::vector<std::pair<size_t, size_t>> spans_of(std::string_view line) {
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t i = 0; i < line.size();) {
        if (line[i] == '-') {
            const size_t start = i;
            while (i < line.size() && line[i] == '-') ++i;
            out.emplace_back(start, i - start);
        } else if (line[i] == ' ' || line[i] == '\r') {
            ++i;
        } else {
            return {};
        }
    }
    return out;
}

std::vector<std::string> cut(std::string_view line, const std::vector<std::pair<size_t, size_t>>& spans) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < spans.size(); ++i) {
        if (spans[i].first >= line.size()) return {};
        // The last column is as long as it likes: a name's characters may be longer than a byte.
        const size_t length = i + 1 == spans.size() ? std::string_view::npos : spans[i].second;
        cells.emplace_back(trimmed(line.substr(spans[i].first, length)));
    }
    return cells;
}

class StatsReader {
  public:
    explicit StatsReader(Input& input) : input_(input) { process_.file = input.name; }

    Process read() {
        std::string_view line;
        while (next_line(input_.bytes, line)) {
            if (!is_title_line(line)) continue;
            const std::string title(line);
            if (trimmed(line).find(',') != std::string_view::npos)
                read_csv(title);
            else
                read_text(title);
        }
        if (process_.launches.empty())
            throw Error(input_.name +
                        ": `nsys stats` without a table of kernels or copies: no GPU work was traced, "
                        "or other reports were asked for; run `nsys stats -r cuda_gpu_kern_sum FILE`");
        process_.names = names_.take();
        process_.diagnostics.push_back(
            {DiagnosticLevel::warning, "import-summary",
             input_.name + ": a summary: each row stands for many launches of which only the number and the "
                           "time of all are known; order, geometry, resources and occupancy are not",
             "import the report itself: nsys export --type sqlite FILE.nsys-rep", 1});
        strange_.report(process_.diagnostics, DiagnosticLevel::data_loss, "import-damaged",
                        input_.name + ": rows of a kernel table hold no numbers and were passed over",
                        "run `nsys stats` again");
        close(process_);
        return std::move(process_);
    }

  private:
    void read_csv(const std::string& title) {
        std::vector<std::string> cells;
        for (size_t start = 0; start <= title.size();) {
            const size_t comma = std::min(title.find(',', start), title.size());
            cells.push_back(title.substr(start, comma - start));
            start = comma + 1;
        }
        const Table table = table_of(cells);
        bool whole = true;
        while (true) {
            if (input_.bytes.size() == 0 && !input_.bytes.more()) return;
            const char first = *input_.bytes.begin();
            if (first < '0' || first > '9') return;  // a blank line, another table
            if (!next_record(input_.bytes, cells, whole)) return;
            if (table.usable()) take(table, cells);
        }
    }

    void read_text(const std::string& title) {
        std::string_view line;
        if (!next_line(input_.bytes, line)) return;
        const auto spans = spans_of(line);
        if (spans.empty()) return;
        const Table table = table_of(cut(title, spans));
        while (next_line(input_.bytes, line) && !trimmed(line).empty())
            if (table.usable()) take(table, cut(line, spans));
    }

    void take(const Table& table, const std::vector<std::string>& cells) {
        const size_t needed = std::max({table.total, table.count, table.name});
        const auto total = needed < cells.size() ? grouped_number(cells[table.total]) : std::nullopt;
        const auto count = needed < cells.size() ? grouped_number(cells[table.count]) : std::nullopt;
        const bool possible =
            total && count && *total >= 0 && *count >= 1 && *total * table.ns <= 1e17 && *count <= 1e15;
        const uint64_t ns = possible ? static_cast<uint64_t>(*total * table.ns) : 0;
        if (!possible || ns > static_cast<uint64_t>(kMostNanoseconds) - clock_)
            return strange_.add("byte " + std::to_string(input_.bytes.offset()));
        Launch launch;
        launch.correlation = process_.launches.size() + 1;
        launch.times = static_cast<uint64_t>(*count);
        launch.start_ns = clock_;
        launch.end_ns = clock_ + ns;
        clock_ = *launch.end_ns;
        const std::string name = valid_utf8(cells[table.name]);
        if (!table.memory) {
            launch.name = names_.add(name);
        } else if (name.find("memset") != std::string::npos) {
            launch.kind = LaunchKind::memset;
        } else {
            launch.kind = LaunchKind::memcpy;
            set_copy_kind(process_, launch, copy_kind(name));
        }
        process_.launches.push_back(std::move(launch));
    }

    Input& input_;
    Process process_;
    Texts names_;
    uint64_t clock_ = 1;
    Count strange_;
};

}  // namespace

bool is_nsys_stats(std::string_view head) {
    return any_line(head, is_title_line);
}

void read_nsys_stats(Input& input, Imported& out) {
    out.processes.push_back(StatsReader(input).read());
}

}  // namespace attnscope::importer
