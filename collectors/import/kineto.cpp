// PyTorch profiler (Kineto) traces: Chrome's trace events with GPU work in categories of its own.
//
// Times are microseconds, whatever `displayTimeUnit` says. `est. achieved occupancy %` is neither achieved
// nor always an estimate: above 48 KiB of shared memory it is 0 (pytorch/kineto computes it without the
// opt-in limit). It is kept as what the trace reported, never as a measurement. `blocks per SM` and `warps
// per SM` are totals divided by SMs, no residency: left out.
#include "kineto.h"

#include "attnscope/error.h"
#include "kineto_counters.h"
#include "kineto_devices.h"
#include "kineto_event.h"
#include "kineto_events.h"
#include "kineto_findings.h"
#include "kineto_inputs.h"
#include "timeline.h"

namespace attnscope::importer {
namespace {

class KinetoReader {
  public:
    explicit KinetoReader(Input& input) : input_(input) { process_.file = input.name; }

    Process read() {
        TraceFrame frame = read_trace(input_.name, input_.bytes,
                                      [this](const std::vector<JsonField>& fields) { take(Event(fields)); });
        if (frame.events == 0) refuse(frame);
        process_.diagnostics = std::move(frame.diagnostics);
        take_frame(frame);
        found_.launches = launches_.size();
        found_.counted_ranges = counted_.size();
        std::vector<std::optional<uint64_t>> external;
        const int64_t shift = sort_launches(process_, launches_, external);
        timeline_.resolve(process_, external, shift);
        process_.names = names_.take();
        counted_.add_to(process_, shift);
        const auto told = found_.diagnostics(input_.name);
        process_.diagnostics.insert(process_.diagnostics.end(), told.begin(), told.end());
        close(process_);
        return std::move(process_);
    }

  private:
    [[noreturn]] void refuse(const TraceFrame& frame) const {
        const std::string problem = input_.bytes.source().problem();
        if (!problem.empty()) throw Error(input_.name + ": holds no event that can be read: " + problem);
        throw Error(input_.name + (frame.has_events_array
                                       ? ": holds no event that can be read: record or copy the trace again"
                                       : ": holds no traceEvents: export the trace again with "
                                         "prof.export_chrome_trace()"));
    }

    void take(const Event& e) {
        switch (e.category) {
            case Event::Category::kernel:
            case Event::Category::memcpy:
            case Event::Category::memset:
                return take_launch(e);
            case Event::Category::operation:
                return take_operation(e);
            case Event::Category::annotation:
                return take_annotation(e);
            case Event::Category::call:
                return take_call(e);
            case Event::Category::counters:
                return counted_.take(e, name_of(e.name));
            case Event::Category::other:
                break;
        }
    }

    std::string here() const { return "byte " + std::to_string(input_.bytes.offset()); }

    std::string name_of(std::string_view raw) {
        bool repaired = false, broken = false;
        std::string name = valid_utf8(unescape(raw, &repaired), &broken);
        if (repaired) found_.backslashes.add(here());
        if (broken) found_.broken_utf8.add(here());
        return name;
    }

    /// Names repeat thousands of times: only the first of each is unescaped.
    uint32_t intern(std::string_view raw) {
        bool fresh = false;
        const uint32_t at = raw_names_.add(raw, &fresh);
        if (fresh) name_of_raw_.push_back(names_.add(name_of(raw)));
        return name_of_raw_[at];
    }

    EventTime checked_time(const Event& e) {
        const EventTime time = time_of(e);
        if (time.no_number) found_.no_number.add(here());
        if (time.negative) found_.negative.add(here());
        return time;
    }

    void take_launch(const Event& e) {
        TimedLaunch out = launch_of(e);
        const EventTime time = checked_time(e);
        if (time.end) {
            out.start = time.start;
            out.end = time.end;
        }
        if (out.launch.kind == LaunchKind::kernel) {
            if (e.name.empty())
                found_.nameless.add(here());
            else
                out.launch.name = intern(e.name);
        }
        if (out.launch.kind == LaunchKind::memcpy) {
            const JsonField* word = e.arg("kind");
            const std::string kind = word ? copy_kind(word->raw) : "";
            set_copy_kind(process_, out.launch, kind.empty() ? copy_kind(e.name) : kind);
        }
        launches_.push_back(std::move(out));
    }

    void take_operation(const Event& e) {
        ++found_.host_events;
        const EventTime time = checked_time(e);
        if (!time.end) return;
        const KinetoInputs in{e.array("Input type"), e.array("Input Dims"), e.array("Input Strides"),
                              e.array("Concrete Inputs")};
        key_.clear();
        for (const std::string_view part : {in.types, in.dims, in.strides, in.values})
            key_.append(part).push_back('\n');
        const uint32_t list = timeline_.inputs(key_, [&] { return input_texts(in); });
        timeline_.operation(e.thread(), *time.start, *time.end, operation_name(e.name), list,
                            e.external_id());
    }

    std::string_view operation_name(std::string_view raw) {
        bool fresh = false;
        const uint32_t at = raw_operations_.add(raw, &fresh);
        if (fresh) operation_names_.push_back(name_of(raw));
        return operation_names_[at];
    }

    void take_annotation(const Event& e) {
        ++found_.host_events;
        const EventTime time = checked_time(e);
        if (time.end) timeline_.annotation(e.thread(), *time.start, *time.end, name_of(e.name));
    }

    void take_call(const Event& e) {
        ++found_.host_events;
        if (e.name.find("Launch") != std::string_view::npos) ++found_.launch_calls;
        if (!process_.pid && e.pid) process_.pid = json_u64(*e.pid);
        const auto correlation = e.number("correlation");
        const auto start = time_of(e).start;
        if (correlation && start) timeline_.call(e.thread(), *start, *correlation);
    }

    void take_frame(const TraceFrame& frame) {
        const auto text = [&](const char* key) {
            const std::string* found = frame.find(key);
            return found ? std::string_view(*found).substr(0, found->size() - ByteWindow::kPadding)
                         : std::string_view();
        };
        const auto number = [&](const char* key) {
            JsonField field;
            field.raw = text(key);
            const auto value = json_u64(field);
            return value && *value > 0 ? value : std::nullopt;
        };
        process_.cuda_driver = number("cuda_driver_version");
        process_.cuda_runtime = number("cuda_runtime_version");
        process_.cupti = number("cupti_version");
        process_.rank = kineto_rank(text("distributedInfo"));
        std::vector<Device> devices = kineto_devices(text("deviceProperties"));
        if (devices.empty()) devices = kineto_devices(text("computeProperties"));
        add_devices(process_, launches_, std::move(devices));
        uint64_t elsewhere = 0;
        for (const TimedLaunch& l : launches_) elsewhere += !process_.device(l.launch.device);
        if (elsewhere > 0)
            process_.diagnostics.push_back(
                {DiagnosticLevel::info, "import-device-not-listed",
                 input_.name + ": launches ran on a device that the trace does not describe: what depends on "
                               "the GPU (occupancy, waves) is not known for them",
                 "record the trace again with a newer PyTorch, which lists every device", elsewhere});
    }

    Input& input_;
    Process process_;
    HostTimeline timeline_;
    Launches launches_;
    Texts names_, raw_names_, raw_operations_;
    std::vector<uint32_t> name_of_raw_;
    std::vector<std::string> operation_names_;
    CountedRanges counted_;
    std::string key_;
    KinetoFindings found_;
};

}  // namespace

bool is_kineto(std::string_view head) {
    if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
    const size_t start = head.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return false;
    head.remove_prefix(start);
    if (head.front() == '[') {  // Chrome's other form: the events alone
        const size_t event = head.find_first_not_of(" \t\r\n", 1);
        return event != std::string_view::npos && head[event] == '{' &&
               head.find("\"ph\"") != std::string_view::npos;
    }
    if (head.front() != '{') return false;
    for (const std::string_view key : {"\"traceEvents\"", "\"deviceProperties\"", "\"computeProperties\"",
                                       "\"distributedInfo\"", "\"schemaVersion\""})
        if (head.find(key) != std::string_view::npos) return true;
    return false;
}

void read_kineto(Input& input, Imported& out) {
    Process process = KinetoReader(input).read();
    if (process.counter_ground) out.counters_range = "nvtx";
    out.processes.push_back(std::move(process));
}

}  // namespace attnscope::importer
