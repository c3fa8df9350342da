// PyTorch profiler (Kineto) traces: Chrome's trace events with GPU work in categories of its own.
//
// Times are microseconds, whatever `displayTimeUnit` says. `est. achieved occupancy %` is neither achieved
// nor always an estimate: above 48 KiB of shared memory it is 0 (pytorch/kineto computes it without the
// opt-in limit). It is kept as what the trace reported, never as a measurement. `blocks per SM` and `warps
// per SM` are totals divided by SMs, no residency: left out.
#include <algorithm>

#include "attnscope/error.h"
#include "finish.h"
#include "importer.h"
#include "json_scan.h"
#include "kineto.h"
#include "kineto_devices.h"
#include "kineto_events.h"
#include "kineto_inputs.h"
#include "microseconds.h"
#include "timeline.h"

namespace attnscope::importer {
namespace {

/// The fields of an event that importing needs; views into the window.
struct Event {
    std::string_view category, name;
    const JsonField *pid = nullptr, *tid = nullptr, *ts = nullptr, *dur = nullptr;
    const std::vector<JsonField>* fields = nullptr;

    const JsonField* arg(std::string_view key) const {
        for (const JsonField& f : *fields)
            if (f.nested && f.key == key) return &f;
        return nullptr;
    }
    std::optional<uint64_t> number(std::string_view key) const {
        const JsonField* f = arg(key);
        return f ? json_u64(*f) : std::nullopt;
    }
    std::string_view array(std::string_view key) const {
        const JsonField* f = arg(key);
        return f && f->kind == JsonKind::array ? f->raw : std::string_view();
    }
    /// Traces before 2022 write it in lower case.
    std::optional<uint64_t> external_id() const {
        const auto id = number("External id");
        return id ? id : number("external id");
    }
};

enum class Category : uint8_t { other, kernel, memcpy, memset, operation, call, annotation, counters };

Category category_of(std::string_view c) {
    if (c == "kernel" || c == "Kernel") return Category::kernel;
    if (c == "cpu_op" || c == "Operator") return Category::operation;
    if (c == "cuda_runtime" || c == "cuda_driver" || c == "Runtime") return Category::call;
    if (c == "gpu_memcpy" || c == "Memcpy") return Category::memcpy;
    if (c == "gpu_memset" || c == "Memset") return Category::memset;
    if (c == "user_annotation") return Category::annotation;
    if (c == "cuda_profiler_range") return Category::counters;
    return Category::other;
}

/// "7" or "stream 7".
std::optional<uint64_t> stream_of(const JsonField& field) {
    JsonField number = field;
    if (number.raw.starts_with("stream ")) number.raw.remove_prefix(7);
    return json_u64(number);
}

bool take_dim(std::string_view array, Dim3& out) {
    const auto elements = array_elements(array);
    if (elements.size() != 3) return false;
    for (size_t i = 0; i < 3; ++i) {
        const auto n = json_u64(elements[i]);
        if (!n || *n == 0 || *n > UINT32_MAX) return false;
        out[i] = static_cast<uint32_t>(*n);
    }
    return true;
}

constexpr int64_t kNoDuration = INT64_MIN;

std::optional<uint32_t> small(std::optional<uint64_t> value) {
    if (!value || *value > INT32_MAX) return std::nullopt;
    return static_cast<uint32_t>(*value);
}

class KinetoReader {
  public:
    explicit KinetoReader(Input& input) : input_(input) { process_.file = input.name; }

    Process read() {
        const std::function<void(const std::vector<JsonField>&)> take =
            [this](const std::vector<JsonField>& fields) { take_event(fields); };
        TraceFrame frame = read_trace(input_.name, input_.bytes, take);
        const std::string problem = input_.bytes.source().problem();
        if (frame.events == 0 && !problem.empty())
            throw Error(input_.name + ": holds no event that can be read: " + problem);
        if (frame.events == 0 && !frame.has_events_array)
            throw Error(input_.name +
                        ": holds no traceEvents: export the trace again with prof.export_chrome_trace()");
        if (frame.events == 0)
            throw Error(input_.name + ": holds no event that can be read: record or copy the trace again");
        process_.diagnostics = std::move(frame.diagnostics);
        take_frame(frame);
        const uint64_t launches = launches_.size();
        std::vector<std::optional<uint64_t>> external;
        const int64_t shift = sort_launches(process_, launches_, external);
        timeline_.resolve(process_, external, shift);
        process_.names = names_.take();
        add_counted_ranges(shift);
        report(launches);
        close(process_);
        return std::move(process_);
    }

  private:
    void take_event(const std::vector<JsonField>& fields) {
        Event e;
        e.fields = &fields;
        std::string_view phase;
        for (const JsonField& f : fields) {
            if (f.nested) continue;
            if (f.key == "ph") phase = f.raw;
            if (f.key == "cat") e.category = f.raw;
            if (f.key == "name" && f.kind == JsonKind::string) e.name = f.raw;
            if (f.key == "pid") e.pid = &f;
            if (f.key == "tid") e.tid = &f;
            if (f.key == "ts") e.ts = &f;
            if (f.key == "dur") e.dur = &f;
        }
        if (phase != "X") return;
        switch (category_of(e.category)) {
            case Category::kernel:
                return take_launch(e, LaunchKind::kernel);
            case Category::memcpy:
                return take_launch(e, LaunchKind::memcpy);
            case Category::memset:
                return take_launch(e, LaunchKind::memset);
            case Category::operation:
                return take_operation(e);
            case Category::annotation:
                return take_annotation(e);
            case Category::call:
                return take_call(e);
            case Category::counters:
                return take_counters(e);
            case Category::other:
                break;
        }
    }

    std::string here() const { return "byte " + std::to_string(input_.bytes.offset()); }

    std::string name_of(std::string_view raw) {
        bool repaired = false, broken = false;
        std::string name = valid_utf8(unescape(raw, &repaired), &broken);
        if (repaired) backslashes_.add(here());
        if (broken) broken_utf8_.add(here());
        return name;
    }

    /// Names repeat thousands of times: only the first of each is unescaped.
    uint32_t intern(std::string_view raw) {
        bool fresh = false;
        const uint32_t at = raw_names_.add(raw, &fresh);
        if (fresh) name_of_raw_.push_back(names_.add(name_of(raw)));
        return name_of_raw_[at];
    }

    struct Interval {
        std::optional<int64_t> start, end;
    };
    Interval interval(const Event& e) {
        Interval out;
        if (e.ts) out.start = microseconds_to_ns(e.ts->raw);
        const bool timed = e.dur != nullptr;
        const int64_t duration = timed ? microseconds_to_ns(e.dur->raw).value_or(kNoDuration) : kNoDuration;
        if ((e.ts && !out.start) || (timed && duration == kNoDuration)) no_number_.add(here());
        if (duration < 0 && duration != kNoDuration) negative_.add(here());
        if (out.start && duration >= 0) out.end = *out.start + duration;
        return out;
    }

    uint64_t thread_of(const Event& e) const {
        const uint64_t pid = e.pid ? json_u64(*e.pid).value_or(0) : 0;
        const uint64_t tid = e.tid ? json_u64(*e.tid).value_or(std::hash<std::string_view>{}(e.tid->raw)) : 0;
        return pid << 32 ^ tid;
    }

    void take_launch(const Event& e, LaunchKind kind) {
        TimedLaunch out;
        Launch& launch = out.launch;
        launch.kind = kind;
        launch.correlation = e.number("correlation").value_or(kNoCorrelation);
        out.external = e.external_id();
        const auto device = small(e.number("device"));
        const auto track = e.pid ? small(json_u64(*e.pid)) : std::nullopt;  // a GPU's track is its number
        if (device || track) launch.device = static_cast<int32_t>(device ? *device : *track);
        launch.stream = e.number("stream");
        if (!launch.stream && e.tid) launch.stream = stream_of(*e.tid);
        const Interval time = interval(e);
        if (time.end) {
            out.start = time.start;
            out.end = time.end;
        }
        const auto graph = e.number("graph id");
        launch.in_graph = graph && *graph != 0;
        if (kind == LaunchKind::kernel) {
            take_kernel(e, launch);
        } else {
            launch.bytes = e.number("bytes");
            const JsonField* word = e.arg("kind");
            std::string copied = kind == LaunchKind::memcpy && word ? copy_kind(word->raw) : "";
            if (kind == LaunchKind::memcpy && copied.empty()) copied = copy_kind(e.name);
            set_copy_kind(process_, launch, copied);
        }
        launches_.push_back(std::move(out));
    }

    void take_kernel(const Event& e, Launch& launch) {
        if (e.name.empty())
            nameless_.add(here());
        else
            launch.name = intern(e.name);
        launch.has_grid = take_dim(e.array("grid"), launch.grid);
        launch.has_block = take_dim(e.array("block"), launch.block);
        launch.registers = small(e.number("registers per thread"));
        if (launch.registers == 0U) launch.registers.reset();  // no kernel has none: not collected
        launch.shared = small(e.number("shared memory"));
        for (const char* key : {"est. achieved occupancy %", "theoretical occupancy %"}) {
            const JsonField* f = e.arg(key);
            const auto percent = f ? json_number(*f) : std::nullopt;
            if (percent && *percent >= 0 && *percent <= 100 && !launch.reported_occupancy)
                launch.reported_occupancy = percent;
        }
    }

    void take_operation(const Event& e) {
        ++host_events_;
        const Interval time = interval(e);
        if (!time.end) return;
        const KinetoInputs in{e.array("Input type"), e.array("Input Dims"), e.array("Input Strides"),
                              e.array("Concrete Inputs")};
        key_.clear();
        for (const std::string_view part : {in.types, in.dims, in.strides, in.values})
            key_.append(part).push_back('\n');
        const uint32_t list = timeline_.inputs(key_, [&] { return input_texts(in); });
        timeline_.operation(thread_of(e), *time.start, *time.end, names_of_operations(e.name), list,
                            e.external_id());
    }

    /// Unescaped where it must be: operation names rarely are.
    std::string_view names_of_operations(std::string_view raw) {
        if (raw.find('\\') == std::string_view::npos) return raw;
        scratch_ = name_of(raw);
        return scratch_;
    }

    void take_annotation(const Event& e) {
        ++host_events_;
        const Interval time = interval(e);
        if (time.end) timeline_.annotation(thread_of(e), *time.start, *time.end, name_of(e.name));
    }

    void take_call(const Event& e) {
        ++host_events_;
        if (e.name.find("Launch") != std::string_view::npos) ++launch_calls_;
        if (!process_.pid && e.pid) process_.pid = json_u64(*e.pid);
        const auto correlation = e.number("correlation");
        const auto start = e.ts ? microseconds_to_ns(e.ts->raw) : std::nullopt;
        if (correlation && start) timeline_.call(thread_of(e), *start, *correlation);
    }

    /// CUPTI's range profiler: each argument is a metric. The event's times are not the kernel's.
    void take_counters(const Event& e) {
        CountedRange range;
        range.name = name_of(e.name);
        for (const JsonField& f : *e.fields) {
            if (!f.nested || f.key.find("__") == std::string_view::npos) continue;
            CounterValue value;
            value.metric = metrics_.add(f.key);
            value.value = json_number(f);
            if (value.value && *value.value < 0) value.value.reset();
            if (!value.value) value.absent = "the file holds no possible value";
            const bool twice = std::any_of(range.values.begin(), range.values.end(),
                                           [&](const CounterValue& v) { return v.metric == value.metric; });
            if (!twice) range.values.push_back(std::move(value));
        }
        counted_.push_back(std::move(range));
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
        const auto used = [&](int32_t ordinal) {
            return std::any_of(launches_.begin(), launches_.end(),
                               [&](const TimedLaunch& l) { return l.launch.device == ordinal; });
        };
        const bool any =
            std::any_of(devices.begin(), devices.end(), [&](const Device& d) { return used(d.ordinal); });
        for (Device& d : devices) {
            if (any && !used(d.ordinal)) continue;
            complete_device(d, process_.diagnostics);
            process_.devices.push_back(std::move(d));
        }
        uint64_t elsewhere = 0;
        for (const TimedLaunch& l : launches_) elsewhere += !process_.device(l.launch.device);
        if (elsewhere > 0)
            process_.diagnostics.push_back(
                {DiagnosticLevel::info, "import-device-not-listed",
                 input_.name + ": launches ran on a device that the trace does not describe: what depends on "
                               "the GPU (occupancy, waves) is not known for them",
                 "record the trace again with a newer PyTorch, which lists every device", elsewhere});
    }

    void add_counted_ranges(int64_t shift) {
        if (counted_.empty()) return;
        process_.metrics = metrics_.take();
        process_.counter_ground = Ground::imported;
        for (CountedRange& counted : counted_) {
            Range range;
            range.id = process_.ranges.size() + 1;
            range.process_wide = true;
            range.ended = true;
            range.name = std::move(counted.name);
            range.start_ns = static_cast<uint64_t>(std::max<int64_t>(shift, 0));
            range.end_ns = range.start_ns;
            if (!counted.values.empty()) {
                range.counters = static_cast<uint32_t>(process_.counters.size());
                process_.counters.push_back(std::move(counted.values));
            }
            process_.ranges.push_back(std::move(range));
        }
    }

    void report(uint64_t launches) {
        auto& out = process_.diagnostics;
        const auto warn = [&](const Count& c, DiagnosticLevel level, const char* code, const char* what) {
            c.report(out, level, code, input_.name + ": " + what,
                     "record the trace again with a newer PyTorch");
        };
        warn(negative_, DiagnosticLevel::data_loss, "import-negative-duration",
             "events end before they begin: they have no time here");
        warn(no_number_, DiagnosticLevel::data_loss, "import-no-number",
             "times are no numbers (NaN, inf, text): those events have no time here");
        warn(nameless_, DiagnosticLevel::warning, "import-nameless", "kernels have no name");
        warn(backslashes_, DiagnosticLevel::info, "import-backslashes",
             "names hold backslashes that JSON does not know: taken as they stand");
        warn(broken_utf8_, DiagnosticLevel::warning, "import-broken-utf8",
             "names hold bytes that are not UTF-8: each is U+FFFD here");
        if (!counted_.empty())
            out.push_back({DiagnosticLevel::warning, "import-counted-ranges",
                           input_.name + ": CUPTI counters of " + std::to_string(counted_.size()) +
                               " ranges" + (launches == 0 ? ", and no kernel records" : "") +
                               ": the ranges' durations in the trace mean nothing and are left out",
                           "profile once more without counters for times", 1});
        if (launches > 0 || !counted_.empty()) return;
        if (launch_calls_ > 0)
            out.push_back({DiagnosticLevel::error, "import-device-side-lost",
                           input_.name + ": " + std::to_string(launch_calls_) +
                               " launches but no kernels: CUPTI lost the device side",
                           "check that no other profiler holds CUPTI, and record the trace again: attnscope "
                           "doctor",
                           launch_calls_});
        else
            out.push_back({DiagnosticLevel::error, "import-cpu-only",
                           input_.name + ": CPU-only trace: no GPU kernel was recorded (" +
                               std::to_string(host_events_) + " operations and calls of the host)",
                           "profile with ProfilerActivity.CUDA on a machine with a GPU: attnscope doctor",
                           1});
    }

    struct CountedRange {
        std::string name;
        CounterSet values;
    };

    Input& input_;
    Process process_;
    HostTimeline timeline_;
    std::vector<TimedLaunch> launches_;
    Texts names_, raw_names_, metrics_;
    std::vector<uint32_t> name_of_raw_;
    std::vector<CountedRange> counted_;
    std::string key_, scratch_;
    uint64_t host_events_ = 0, launch_calls_ = 0;
    Count negative_, no_number_, nameless_, backslashes_, broken_utf8_;
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
