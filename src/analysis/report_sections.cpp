#include <algorithm>

#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

constexpr size_t kMostRows = 200;   // of one table
constexpr size_t kRowsOfAll = 600;  // a page stays readable, and small

/// Of the counters, those that say something about a single kernel in the report's terms.
constexpr const char* kLaunchRoles[] = {counter_role::kAchievedOccupancy, counter_role::kDramBytes,
                                        counter_role::kTensorPipe, counter_role::kSerialisedTime};

std::vector<const CounterRole*> counter_columns(const Analysis& a) {
    std::vector<const CounterRole*> out;
    for (const char* wanted : kLaunchRoles)
        for (const CounterRole& role : a.counter_roles) {
            const auto counted = [&](const std::vector<Step>& steps) {
                return std::any_of(steps.begin(), steps.end(), [&](const Step& s) {
                    const Measured* m = find_role(s.counters, role.role);
                    return m && m->value;
                });
            };
            if (role.role == wanted && std::any_of(a.implementations.begin(), a.implementations.end(),
                                                   [&](const Implementation& i) { return counted(i.steps); }))
                out.push_back(&role);
        }
    return out;
}

std::vector<Column> launch_columns(bool grouped, bool timed,
                                   const std::vector<const CounterRole*>& counters) {
    std::vector<Column> c = {
        {"launch", "launch", "Short name; the full one on demand.", "", false},
        {"role", "role", "What it is for, read from its name.", "", false},
        {"grid", "grid", "CTAs in x, y, z.", "", false},
        {"block", "block", "Threads of a CTA in x, y, z.", "", false},
        {"registers", "registers", "Per thread.", "", true},
        {"static_shared", "static shared", "Bytes per CTA, fixed when it was compiled.", "", true},
        {"dynamic_shared", "dynamic shared", "Bytes per CTA, asked for at the launch.", "", true},
        {"local", "local",
         "Bytes per thread in local memory: stack and spills. It does not tell how often they are touched.",
         "", true},
        {"bytes", "bytes", "Of copies and memsets.", "", true},
        {"occupancy", "theoretical occupancy", "Warps that fit on an SM at once.",
         "100%: the SM's maximum of warps", true},
        {"limiter", "limited by", "What runs out first on the SM.", "", false},
        {"ctas_per_sm", "CTAs/SM", "Resident at once.", "", true},
        {"waves", "waves", "CTAs of the grid / (CTAs per SM x SMs).", "", true},
    };
    if (grouped)
        c.insert(c.begin() + 1,
                 {"times", "times", "Launches that are alike in all that is shown here.", "", true});
    const long front = grouped ? 2 : 1;
    if (timed)
        c.insert(
            c.begin() + front,
            {"time", "time", grouped ? "Sum over these launches." : "Median over the iterations.", "", true});
    for (const CounterRole* role : counters)
        c.push_back(
            {role->role, role->title, role->meaning, role->unit == Unit::percent ? "100%" : "", true});
    return c;
}

Row launch_row(const Step& s, size_t number, bool grouped, bool timed,
               const std::vector<const CounterRole*>& counters, Ground ground) {
    Row r;
    r.id = std::to_string(number);
    const bool kernel = s.is_kernel();
    std::string full = s.full_name;
    if (s.kind == LaunchKind::library_call && full.empty()) full = s.name;
    const Value& geometry = s.registers;  // carries the reason: a library's choice, not a kernel
    const auto dim = [&](const std::optional<Dim3>& d) {
        return d ? words_cell(dim_text(d))
                 : value_cell(Value::missing(kernel ? "not in the record" : geometry.absent));
    };
    r.cells = {words_cell(s.name, full),
               words_cell(s.kind == LaunchKind::library_call
                              ? (s.role == Role::gemm ? "library call: matrix product" : "library call")
                          : s.kind == LaunchKind::memcpy ? "copy"
                          : s.kind == LaunchKind::memset ? "memset"
                          : s.role == Role::other        ? "kernel"
                                                         : to_string(s.role)),
               dim(s.grid),
               dim(s.block),
               value_cell(s.registers),
               value_cell(s.static_shared),
               value_cell(s.dynamic_shared),
               value_cell(s.local),
               value_cell(s.bytes),
               value_cell(s.occupancy, s.occupancy ? 100 : 0),
               s.limiter.empty() ? value_cell(Value::missing(s.occupancy.absent)) : words_cell(s.limiter),
               value_cell(s.ctas_per_sm),
               value_cell(s.waves)};
    if (s.cluster) r.cells[2].full_text = "clusters of " + dim_text(s.cluster);
    if (grouped)
        r.cells.insert(r.cells.begin() + 1,
                       value_cell(Value::of(double(s.times), Unit::count, {Source::trace, ground})));
    if (timed) r.cells.insert(r.cells.begin() + (grouped ? 2 : 1), value_cell(s.time));
    for (const CounterRole* role : counters) {
        const Measured* m = find_role(s.counters, role->role);
        r.cells.push_back(m ? value_cell(m->value, role->unit == Unit::percent && m->value ? 100 : 0)
                            : value_cell(Value::missing("not a kernel")));
    }
    return r;
}

Table launch_table(const Analysis& a, const Implementation& i, const std::vector<Step>& steps, bool grouped) {
    const size_t most =
        std::clamp(kRowsOfAll / std::max<size_t>(a.implementations.size(), 1), size_t{10}, kMostRows);
    Table table;
    const bool timed = a.timed();
    const std::vector<const CounterRole*> counters = counter_columns(a);
    table.columns = launch_columns(grouped, timed, counters);
    for (size_t k = 0; k < std::min(steps.size(), most); ++k)
        table.rows.push_back(launch_row(steps[k], k + 1, grouped, timed, counters, a.ground));
    if (steps.size() > most)
        table.sentence = "The first " + words::number(double(most)) + " of " +
                         words::number(double(steps.size())) + " rows. ";
    table.title = i.title;
    return table;
}

Section launches_section(const Analysis& a) {
    Section section;
    section.id = "launches";
    section.title = a.has_convention ? "Launches of each implementation" : "Launches";
    section.sentence = a.has_convention ? "One iteration, in the order of issue." : "Alike ones joined.";
    for (const Implementation& i : a.implementations) {
        if (i.steps.empty()) continue;
        Table table = launch_table(a, i, i.steps, i.grouped);
        table.id = "launches-" + i.title;
        table.sentence += i.launches ? i.launches.formula + "." : i.iterations_note + "; this is the first.";
        section.tables.push_back(std::move(table));
    }
    return section;
}

Section apart_section(const Analysis& a) {
    Section section;
    section.id = "apart";
    section.title = "Seen outside the iterations only";
    section.sentence =
        "Warm-up and set-up: launched in an implementation's range, but never in its iterations. Not counted "
        "above.";
    for (const Implementation& i : a.implementations) {
        if (i.apart.empty()) continue;
        Table table = launch_table(a, i, i.apart, true);
        table.id = "apart-" + i.title;
        section.tables.push_back(std::move(table));
    }
    return section;
}

Section charts_section(const Analysis& a) {
    Section section;
    section.id = "charts";
    section.title = "In pictures";
    Chart occupancy;
    occupancy.id = "occupancy";
    occupancy.title = "Theoretical occupancy";
    occupancy.sentence =
        "Of the kernel with the lowest in each. A short bar is no fault by itself: fused attention keeps its "
        "tiles in registers and needs few warps.";
    occupancy.x_title = "theoretical occupancy";
    occupancy.x_unit = Unit::percent;
    occupancy.x_full = 100;
    occupancy.x_scale = "the SM's maximum of warps";
    Chart launches;
    launches.id = "launches";
    launches.title = a.has_convention ? "Launches of one iteration" : "Launches";
    launches.sentence =
        "A library call is one kernel or more; how many is the library's choice on a real GPU.";
    launches.kind = Chart::Kind::stacked_bars;
    launches.x_title = "launches";
    launches.x_unit = Unit::count;
    launches.x_scale = "one axis for all";
    Chart bytes;
    bytes.id = "bytes";
    bytes.title = "Bytes through device memory, by the model";
    bytes.sentence =
        "Every implementation reads q, k, v and writes o; what is left is the score matrix going out and in "
        "again. A model, not a measurement: caches may keep some from DRAM.";
    bytes.kind = Chart::Kind::stacked_bars;
    bytes.x_title = "bytes";
    bytes.x_unit = Unit::bytes;
    bytes.x_scale = "one axis for all";
    Chart counted;
    counted.id = "dram-bytes";
    counted.title = "DRAM bytes of the kernels, counted";
    counted.sentence =
        std::string("What the memory's own counters saw of one iteration's kernels; copies are not in it.") +
        (a.counter_ground == Ground::fixture ? " From a fixture file: no GPU measured it." : "");
    counted.x_title = "bytes";
    counted.x_unit = Unit::bytes;
    counted.x_scale = "one axis for all";
    for (const Implementation& i : a.implementations) {
        if (const Value& dram = i.counter(counter_role::kDramBytes))
            counted.points.push_back(
                {i.title, "counted", *dram.number, 0, dram.provenance.ground == Ground::real});
        if (const Step* lowest = i.lowest_occupancy())
            occupancy.points.push_back({i.title, lowest->name, *lowest->occupancy.number, 0, !a.predicted()});
        const bool measured = !a.predicted();
        const auto add = [&](const char* series, const Value& value) {
            if (value.number.value_or(0) > 0)
                launches.points.push_back({i.title, series, *value.number, 0, measured});
        };
        add("kernels", i.kernels);
        add("library calls", i.library_calls);
        add("copies", i.copies);
        add("memsets", i.memsets);
        if (!i.least_bytes || !i.score_bytes) continue;
        bytes.points.push_back({i.title, "q, k, v, o", *i.least_bytes.number, 0, false});
        if (*i.score_bytes.number > 0)
            bytes.points.push_back({i.title, "score matrix", *i.score_bytes.number, 0, false});
    }
    // One series: the kernel's name belongs to the bar, not to a legend.
    for (Chart::Point& point : occupancy.points) {
        if (!point.series.empty() && point.series != point.label) point.label += " (" + point.series + ")";
        point.series = "theoretical";
    }
    for (Chart* chart : {&occupancy, &launches, &bytes, &counted})
        if (!chart->points.empty()) section.charts.push_back(std::move(*chart));
    return section;
}

Section library_section(const Analysis& a) {
    Section section;
    section.id = "library-calls";
    section.title = "Library calls";
    section.sentence =
        "What cuBLAS and cuDNN were asked for. Which kernels answer, only the library on a real GPU decides.";
    Table table;
    table.id = "library-calls";
    table.title = "Library calls of one iteration";
    table.columns = {{"implementation", "implementation", "", "", false},
                     {"library", "library", "", "", false},
                     {"operation", "operation", "", "", false},
                     {"function", "function", "", "", false},
                     {"attributes", "shape and types", "As the program gave them.", "", false}};
    for (const Implementation& i : a.implementations) {
        for (const Step& s : i.steps) {
            if (!s.call || table.rows.size() >= kMostRows) continue;
            std::string attributes;
            for (const auto& [key, value] : s.call->attributes)
                attributes += (attributes.empty() ? "" : ", ") + key + " " + value;
            Row r;
            r.id = std::to_string(table.rows.size() + 1);
            const auto cell = [](const std::string& text) {
                return text.empty() ? value_cell(Value::missing("not in the record")) : words_cell(text);
            };
            r.cells = {cell(i.title), cell(s.call->library), cell(s.call->operation), cell(s.call->function),
                       cell(attributes)};
            table.rows.push_back(std::move(r));
        }
    }
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
    return section;
}

Section choice_section(const Analysis& a) {
    Section section;
    section.id = "choice";
    section.title = "What LibTorch chooses by itself";
    if (a.choice.chosen.empty()) return section;
    section.sentence = "Chosen: " + a.choice.chosen + ". Asked of LibTorch itself, with these inputs.";
    Table table;
    table.id = "choice";
    table.title = "Order of priority";
    table.columns = {
        {"backend", "backend", "In LibTorch's order.", "", false},
        {"answer", "LibTorch's answer", "Its own words; it stops at the first reason.", "", false}};
    std::vector<std::string> order = a.choice.order;
    for (const auto& [backend, reason] : a.choice.refused)
        if (std::find(order.begin(), order.end(), backend) == order.end()) order.push_back(backend);
    for (const std::string& backend : order) {
        Row r;
        r.id = backend;
        std::string answer =
            backend == a.choice.chosen ? "chosen" : "not asked for: an earlier one is chosen";
        const auto refused = std::find_if(a.choice.refused.begin(), a.choice.refused.end(),
                                          [&](const auto& entry) { return entry.first == backend; });
        if (refused != a.choice.refused.end()) {
            r.status = RowStatus::refused;
            answer = "refused: " + refused->second;
        }
        r.cells = {words_cell(backend), words_cell(answer)};
        table.rows.push_back(std::move(r));
    }
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
    return section;
}

}  // namespace

std::vector<Section> sections(const Analysis& a) {
    std::vector<Section> out;
    for (Section section : {charts_section(a), counters_section(a), launches_section(a), library_section(a),
                            choice_section(a), apart_section(a)})
        if (!section.tables.empty() || !section.charts.empty()) out.push_back(std::move(section));
    return out;
}

}  // namespace attnscope::parts
