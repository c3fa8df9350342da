#include "counter_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "attnscope/error.h"
#include "process_file.h"
#include "record_file.h"

namespace attnscope::run_reader {
namespace {

constexpr const char* kAgain =
    "evaluate the raw data again, which stays in the run: attnscope collect --evaluate RUN";

class CounterReader {
  public:
    CounterReader(const std::filesystem::path& path, Process& process)
        : path_(path), name_(path.filename().string()), out_(process) {}

    void read(std::FILE* file) {
        const FileEnd end = read_records(file, name_, out_.diagnostics, kAgain,
                                         [&](Record& r, uint64_t line) { take(r, line); });
        if (!header_) {
            lost("counters-undecodable", ": its first line, which says whose values these are, is missing",
                 1);
            return;
        }
        if (!usable_) return;
        const auto report = [&](const Tally& tally, DiagnosticLevel level, const char* code,
                                const char* what) {
            tally.report(out_.diagnostics, name_, level, code, what, kAgain);
        };
        report(unjoined_, DiagnosticLevel::data_loss, "counters-unjoined",
               "counter values belong to no launch or range of this process, or to more than one: not used");
        report(unknown_metric_, DiagnosticLevel::data_loss, "unknown-id",
               "counter values of metrics that the file does not name: not used");
        report(incomplete_, DiagnosticLevel::data_loss, "incomplete-record",
               "counter records lack a field that they need and were skipped");
        report(impossible_, DiagnosticLevel::warning, "impossible-value",
               "counter values are negative or no numbers: taken as absent");
        report(duplicate_, DiagnosticLevel::warning, "duplicate-counter",
               "counter values are there a second time and differ: taken as absent");
        check_end(end.end_is_last);
    }

  private:
    void take(Record& r, uint64_t line) {
        const std::string_view type = r.type();
        if (type == "counters") return take_header(r);
        if (type == "diagnostic") return out_.diagnostics.push_back(diagnostic_of(r));
        if (type == "end") {
            said_ = true;
            counters_ = r.u64("counters");
            unjoined_said_ = r.u64("unjoined").value_or(0);
            return;
        }
        if (!header_ || !usable_) return;
        if (type == "metric") return take_metric(r, line);
        if (type == "counter") return take_counter(r, line);
    }

    void take_header(Record& r) {
        if (header_) return;
        header_ = true;
        refuse_newer(r.text("version").value_or(""), path_.string());
        const std::string process(r.text("process").value_or(""));
        if (process != out_.file) {
            usable_ = false;
            return lost("counters-unjoined",
                        process.empty() ? ": does not say whose values these are: none is used"
                                        : ": holds the values of " + process + ": none is used",
                        1);
        }
        const auto ground = ground_of(r.text("ground").value_or(""));
        out_.counter_ground = ground == Ground::real ? Ground::real : Ground::fixture;
        if (ground == Ground::real && out_.ground == Ground::real) return;
        if (ground == Ground::fixture) return;
        if (ground == Ground::imported && out_.ground == Ground::imported) {
            out_.counter_ground = ground;
            return;
        }
        // No virtual GPU has counters: whatever the file says, no hardware counted this.
        out_.counter_ground = Ground::fixture;
        out_.diagnostics.push_back({DiagnosticLevel::warning, "counters-ground",
                                    name_ + ": its ground \"" + std::string(r.text("ground").value_or("")) +
                                        "\" cannot be: the values are taken as a fixture's",
                                    kAgain, 1});
    }

    void take_metric(Record& r, uint64_t line) {
        const auto id = r.u64("id");
        const auto name = r.text("name");
        if (!id || !name) return incomplete_.add(line, "metric");
        // The same name under two ids (one a chip) is one metric.
        const auto known = std::find(out_.metrics.begin(), out_.metrics.end(), *name);
        const auto index = static_cast<uint32_t>(known - out_.metrics.begin());
        if (!metric_index_.emplace(*id, index).second) {
            // Which of the two a later value means is not known: neither.
            metric_index_[*id] = kNone;
            return incomplete_.add(line, "metric id " + std::to_string(*id) + " twice");
        }
        if (known == out_.metrics.end()) out_.metrics.emplace_back(*name);
    }

    void take_counter(Record& r, uint64_t line) {
        ++records_;
        const auto metric = r.u64("metric");
        const auto correlation = r.u64("correlation"), range = r.u64("range");
        if (!metric || (!correlation && !range)) return incomplete_.add(line, "counter");
        const auto known = metric_index_.find(*metric);
        if (known == metric_index_.end() || known->second == kNone)
            return unknown_metric_.add(line, "metric " + std::to_string(*metric));
        CounterValue value;
        value.metric = known->second;
        if (r.has("value")) {
            value.value = r.number("value");
            if (!value.value || *value.value < 0) {
                impossible_.add(line);
                value.value.reset();
                value.absent = "the file holds no possible value";
            }
        } else if (const auto absent = r.text("absent")) {
            value.absent = absent->empty() ? "CUPTI gave no value" : std::string(*absent);
        } else {
            return incomplete_.add(line, "counter without value");
        }
        uint32_t* set = correlation && range ? nullptr
                        : range              ? find_range(*range)
                                             : find_launch(*correlation, r.u64("graph_node"));
        if (!set)
            return unjoined_.add(line, range ? "range " + std::to_string(*range)
                                             : "correlation " + std::to_string(*correlation));
        add(*set, std::move(value), line);
    }

    void add(uint32_t& set, CounterValue value, uint64_t line) {
        if (set == kNone) {
            set = static_cast<uint32_t>(out_.counters.size());
            out_.counters.emplace_back();
        }
        CounterSet& values = out_.counters[set];
        const auto same = std::find_if(values.begin(), values.end(),
                                       [&](const CounterValue& v) { return v.metric == value.metric; });
        if (same == values.end()) return values.push_back(std::move(value));
        if (same->value == value.value && same->absent == value.absent) return;
        duplicate_.add(line, out_.metrics[value.metric]);
        same->value.reset();
        same->absent = "two values that differ are in the file";
    }

    /// Exactly one kernel, or none: never a guess.
    uint32_t* find_launch(uint64_t correlation, std::optional<uint64_t> node) {
        if (last_ && last_correlation_ == correlation && last_node_ == node) return last_;
        auto& launches = out_.launches;
        auto at = std::lower_bound(launches.begin(), launches.end(), correlation,
                                   [](const Launch& l, uint64_t c) { return l.correlation < c; });
        Launch* found = nullptr;
        for (; at != launches.end() && at->correlation == correlation; ++at) {
            if (at->kind != LaunchKind::kernel || (node && at->graph_node != node)) continue;
            if (found) return nullptr;
            found = &*at;
        }
        // A launch that was never counted cannot have values: they are another's.
        if (!found || !found->uncounted.empty()) return nullptr;
        last_correlation_ = correlation;
        last_node_ = node;
        return last_ = &found->counters;
    }

    uint32_t* find_range(uint64_t id) {
        if (range_index_.empty())
            for (Range& range : out_.ranges) range_index_.emplace(range.id, &range.counters);
        const auto found = range_index_.find(id);
        return found == range_index_.end() ? nullptr : found->second;
    }

    void check_end(bool end_is_last) {
        if (!said_) return lost("no-end", ": no `end` record: evaluating it was interrupted", 1);
        if (!end_is_last)
            out_.diagnostics.push_back({DiagnosticLevel::warning, "after-end",
                                        name_ + ": there are records after the `end` record", kAgain, 1});
        if (counters_ && *counters_ != records_)
            lost("count-mismatch",
                 ": " + std::to_string(*counters_) + " counter values were written, the file holds " +
                     std::to_string(records_),
                 *counters_ > records_ ? *counters_ - records_ : records_ - *counters_);
        const bool told = std::any_of(out_.diagnostics.begin(), out_.diagnostics.end(),
                                      [](const Diagnostic& d) { return d.code == "counters-unjoined"; });
        if (unjoined_said_ > 0 && !told)
            lost("counters-unjoined",
                 ": " + std::to_string(unjoined_said_) + " counted ranges belong to no launch: not used",
                 unjoined_said_);
    }

    void lost(const char* code, const std::string& what, uint64_t count) {
        out_.diagnostics.push_back({DiagnosticLevel::data_loss, code, name_ + what, kAgain, count});
    }

    const std::filesystem::path& path_;
    const std::string name_;
    Process& out_;
    bool header_ = false, usable_ = true, said_ = false;
    std::optional<uint64_t> counters_;
    uint64_t records_ = 0, unjoined_said_ = 0;
    std::unordered_map<uint64_t, uint32_t> metric_index_;
    std::unordered_map<uint64_t, uint32_t*> range_index_;
    uint64_t last_correlation_ = 0;  // a launch's values stand together
    std::optional<uint64_t> last_node_;
    uint32_t* last_ = nullptr;
    Tally unjoined_, unknown_metric_, incomplete_, impossible_, duplicate_;
};

}  // namespace

void read_counters(const std::filesystem::path& path, Process& process) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file)
        throw Error(path.string() + ": cannot be read: " + std::strerror(errno) + ": check its permissions");
    CounterReader(path, process).read(file.get());
}

}  // namespace attnscope::run_reader
