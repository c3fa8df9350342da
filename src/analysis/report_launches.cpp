// Tables of launches: one row each, or several alike.
#include <algorithm>
#include <functional>

#include "origins.h"
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

bool has_origin(const Step& s) {
    return !s.origin.operations.empty() || !s.origin.range.empty();
}

bool any_origin(const Analysis& a) {
    return std::any_of(a.implementations.begin(), a.implementations.end(), [](const Implementation& i) {
        return std::any_of(i.steps.begin(), i.steps.end(), has_origin);
    });
}

const char* role_words(const Step& s) {
    switch (s.kind) {
        case LaunchKind::library_call:
            return s.role == Role::gemm ? "library call: matrix product" : "library call";
        case LaunchKind::memcpy:
            return "copy";
        case LaunchKind::memset:
            return "memset";
        case LaunchKind::kernel:
            break;
    }
    return s.role == Role::other ? "kernel" : to_string(s.role);
}

Cell name_cell(const Step& s) {
    return words_cell(s.name,
                      s.kind == LaunchKind::library_call && s.full_name.empty() ? s.name : s.full_name);
}

Cell operation_cell(const Step& s) {
    if (!has_origin(s))
        return value_cell(Value::missing("launched by no operation of LibTorch that was recorded"));
    return words_cell(origin_words(s.origin), origin_chain(s.origin));
}

Cell dim_cell(const Step& s, const std::optional<Dim3>& dim) {
    if (dim) return words_cell(dim_text(dim));
    // Registers carry the reason: a library's choice, or no kernel.
    return value_cell(Value::missing(s.is_kernel() ? "not in the record" : s.registers.absent));
}

Cell grid_cell(const Step& s) {
    Cell cell = dim_cell(s, s.grid);
    if (s.cluster) cell.full_text = "clusters of " + dim_text(s.cluster);
    return cell;
}

struct Part {
    Column column;
    std::function<Cell(const Step&)> cell;
};

Part value_part(const char* id, const char* title, const char* meaning, Value Step::*member) {
    return {{id, title, meaning, "", true}, [member](const Step& s) { return value_cell(s.*member); }};
}

/// In the order of their weight: a narrow terminal leaves out what does not fit.
std::vector<Part> parts_of(const Analysis& a, bool grouped) {
    std::vector<Part> out;
    const auto add = [&](Part part) { out.push_back(std::move(part)); };
    add({{"launch", "launch", "Short name; the full one on demand.", "", false}, name_cell});
    if (grouped)
        add({{"times", "times", "Launches that are alike in all that is shown here.", "", true},
             [ground = a.ground](const Step& s) {
                 return value_cell(Value::of(double(s.times), Unit::count, {Source::trace, ground}));
             }});
    if (a.timed())
        add(value_part("time", "time", grouped ? "Sum over these launches." : "Median over the iterations.",
                       &Step::time));
    if (any_origin(a))
        add({{"operation", "operation",
              "LibTorch's operation that launched it, in the one that the program called; where there is "
              "none, the "
              "NVTX range. The whole chain on demand.",
              "", false},
             operation_cell});
    add({{"role", "role", "What it is for, read from its name.", "", false},
         [](const Step& s) { return words_cell(role_words(s)); }});
    add({{"grid", "grid", "CTAs in x, y, z.", "", false}, grid_cell});
    add({{"block", "block", "Threads of a CTA in x, y, z.", "", false},
         [](const Step& s) { return dim_cell(s, s.block); }});
    add(value_part("registers", "registers", "Per thread.", &Step::registers));
    add(value_part("static_shared", "static shared", "Bytes per CTA, fixed when it was compiled.",
                   &Step::static_shared));
    add(value_part("dynamic_shared", "dynamic shared", "Bytes per CTA, asked for at the launch.",
                   &Step::dynamic_shared));
    add(value_part(
        "local", "local",
        "Bytes per thread in local memory: stack and spills. It does not tell how often they are touched.",
        &Step::local));
    add(value_part("bytes", "bytes", "Of copies and memsets.", &Step::bytes));
    add({{"occupancy", "theoretical occupancy", "Warps that fit on an SM at once.",
          "100%: the SM's maximum of warps", true},
         [](const Step& s) { return value_cell(s.occupancy, s.occupancy ? 100 : 0); }});
    add({{"limiter", "limited by", "What runs out first on the SM.", "", false}, [](const Step& s) {
             return s.limiter.empty() ? value_cell(Value::missing(s.occupancy.absent))
                                      : words_cell(s.limiter);
         }});
    add(value_part("ctas_per_sm", "CTAs/SM", "Resident at once.", &Step::ctas_per_sm));
    add(value_part("waves", "waves", "CTAs of the grid / (CTAs per SM x SMs).", &Step::waves));
    for (const CounterRole* role : counter_columns(a))
        add({{role->role, role->title, role->meaning, role->unit == Unit::percent ? "100%" : "", true},
             [role](const Step& s) {
                 const Measured* m = find_role(s.counters, role->role);
                 if (!m) return value_cell(Value::missing("not a kernel"));
                 return value_cell(m->value, role->unit == Unit::percent && m->value ? 100 : 0);
             }});
    return out;
}

Row row_of(std::string id, const std::vector<Part>& parts, const Step& step) {
    Row r;
    r.id = std::move(id);
    for (const Part& part : parts) r.cells.push_back(part.cell(step));
    return r;
}

Table launch_table(const Analysis& a, const Implementation& i, const std::vector<Step>& steps, bool grouped) {
    const size_t most =
        std::clamp(kRowsOfAll / std::max<size_t>(a.implementations.size(), 1), size_t{10}, kMostRows);
    Table table;
    const std::vector<Part> parts = parts_of(a, grouped);
    for (const Part& part : parts) table.columns.push_back(part.column);
    for (size_t k = 0; k < std::min(steps.size(), most); ++k) {
        table.rows.push_back(row_of(std::to_string(k + 1), parts, steps[k]));
    }
    if (steps.size() > most)
        table.sentence = "The first " + words::number(double(most)) + " of " +
                         words::number(double(steps.size())) + " rows. ";
    table.title = i.title;
    return table;
}

/// One launch each: side by side in one table.
Table single_launches(const Analysis& a, const std::vector<const Implementation*>& with) {
    Table table;
    table.id = "launches-of-one-each";
    table.title = "One launch each";
    const std::vector<Part> parts = parts_of(a, false);
    table.columns = {{"implementation", "implementation", "", "", false}};
    for (const Part& part : parts) table.columns.push_back(part.column);
    for (const Implementation* i : with) {
        Row r = row_of(i->title, parts, i->steps.front());
        r.cells.insert(r.cells.begin(), words_cell(i->title));
        table.rows.push_back(std::move(r));
    }
    return table;
}

}  // namespace

Section launches_section(const Analysis& a) {
    Section section;
    section.id = "launches";
    section.title = a.has_convention ? "Launches of each implementation" : "Launches";
    section.sentence = a.has_convention ? "One iteration, in the order of issue." : "Alike ones joined.";
    std::vector<const Implementation*> single;
    for (const Implementation& i : a.implementations)
        if (i.steps.size() == 1 && i.launches.number == 1.0 && !i.grouped) single.push_back(&i);
    if (single.size() < 2) single.clear();
    for (const Implementation& i : a.implementations) {
        if (i.steps.empty() || std::find(single.begin(), single.end(), &i) != single.end()) continue;
        Table table = launch_table(a, i, i.steps, i.grouped);
        table.id = "launches-" + i.title;
        table.sentence += i.launches ? i.launches.formula + "." : i.iterations_note + "; this is the first.";
        section.tables.push_back(std::move(table));
    }
    if (!single.empty()) section.tables.push_back(single_launches(a, single));
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

}  // namespace attnscope::parts
