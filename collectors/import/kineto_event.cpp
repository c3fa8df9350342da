#include "kineto_event.h"

#include <functional>
#include <utility>

#include "microseconds.h"

namespace attnscope::importer {
namespace {

using Category = Event::Category;

Category category_of(std::string_view word) {
    constexpr std::pair<std::string_view, Category> known[] = {
        {"cpu_op", Category::operation},
        {"kernel", Category::kernel},
        {"cuda_runtime", Category::call},
        {"cuda_driver", Category::call},
        {"gpu_memcpy", Category::memcpy},
        {"gpu_memset", Category::memset},
        {"user_annotation", Category::annotation},
        {"cuda_profiler_range", Category::counters},
        {"Operator", Category::operation},  // these of 2021
        {"Kernel", Category::kernel},
        {"Runtime", Category::call},
        {"Memcpy", Category::memcpy},
        {"Memset", Category::memset},
    };
    for (const auto& [name, category] : known)
        if (name == word) return category;
    return Category::other;
}

std::optional<uint32_t> small(std::optional<uint64_t> value) {
    if (!value || *value > INT32_MAX) return std::nullopt;
    return static_cast<uint32_t>(*value);
}

/// "7" or "stream 7".
std::optional<uint64_t> stream_of(const JsonField& field) {
    JsonField number = field;
    if (number.raw.starts_with("stream ")) number.raw.remove_prefix(7);
    return json_u64(number);
}

bool take_dim(std::string_view array, Dim3& out) {
    const auto elements = array_elements(array, 4);
    if (elements.size() != 3) return false;
    for (size_t i = 0; i < 3; ++i) {
        const auto n = json_u64(elements[i]);
        if (!n || *n == 0 || *n > UINT32_MAX) return false;
        out[i] = static_cast<uint32_t>(*n);
    }
    return true;
}

void take_resources(const Event& e, Launch& launch) {
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

}  // namespace

Event::Event(const std::vector<JsonField>& all) : fields(all) {
    std::string_view phase, word;
    for (const JsonField& f : fields) {
        if (f.nested) continue;
        if (f.key == "ph")
            phase = f.raw;
        else if (f.key == "cat")
            word = f.raw;
        else if (f.key == "name" && f.kind == JsonKind::string)
            name = f.raw;
        else if (f.key == "pid")
            pid = &f;
        else if (f.key == "tid")
            tid = &f;
        else if (f.key == "ts")
            ts = &f;
        else if (f.key == "dur")
            dur = &f;
    }
    if (phase == "X") category = category_of(word);
}

const JsonField* Event::arg(std::string_view key) const {
    for (const JsonField& f : fields)
        if (f.nested && f.key == key) return &f;
    return nullptr;
}

std::optional<uint64_t> Event::number(std::string_view key) const {
    const JsonField* f = arg(key);
    return f ? json_u64(*f) : std::nullopt;
}

std::string_view Event::array(std::string_view key) const {
    const JsonField* f = arg(key);
    return f && f->kind == JsonKind::array ? f->raw : std::string_view();
}

std::optional<uint64_t> Event::external_id() const {
    const auto id = number("External id");
    return id ? id : number("external id");
}

uint64_t Event::thread() const {
    const uint64_t process = pid ? json_u64(*pid).value_or(0) : 0;
    const uint64_t own = tid ? json_u64(*tid).value_or(std::hash<std::string_view>{}(tid->raw)) : 0;
    return process << 32 ^ own;
}

EventTime time_of(const Event& e) {
    EventTime out;
    std::optional<int64_t> duration;
    if (e.ts) out.start = microseconds_to_ns(e.ts->raw);
    if (e.dur) duration = microseconds_to_ns(e.dur->raw);
    out.no_number = (e.ts && !out.start) || (e.dur && !duration);
    out.negative = duration && *duration < 0;
    if (out.start && duration && *duration >= 0) out.end = *out.start + *duration;
    return out;
}

TimedLaunch launch_of(const Event& e) {
    TimedLaunch out;
    Launch& launch = out.launch;
    launch.kind = e.category == Category::memcpy   ? LaunchKind::memcpy
                  : e.category == Category::memset ? LaunchKind::memset
                                                   : LaunchKind::kernel;
    launch.correlation = e.number("correlation").value_or(kNoCorrelation);
    out.external = e.external_id();
    const auto device = small(e.number("device"));
    const auto track = e.pid ? small(json_u64(*e.pid)) : std::nullopt;  // a GPU's track is its number
    if (device || track) launch.device = static_cast<int32_t>(device ? *device : *track);
    launch.stream = e.number("stream");
    if (!launch.stream && e.tid) launch.stream = stream_of(*e.tid);
    const auto graph = e.number("graph id");
    launch.in_graph = graph && *graph != 0;
    if (launch.kind == LaunchKind::kernel)
        take_resources(e, launch);
    else
        launch.bytes = e.number("bytes");
    return out;
}

}  // namespace attnscope::importer
