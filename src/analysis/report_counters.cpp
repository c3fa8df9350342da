// The report's parts about hardware counters.
#include <algorithm>

#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

bool in_main_table(const std::string& role) {
    return role == counter_role::kAchievedOccupancy || role == counter_role::kDramBytes ||
           role == counter_role::kTensorPipe;
}

Table table_of(const Analysis& a, bool spread) {
    Table table;
    table.id = spread ? "counters-spread" : "counters";
    table.title = spread             ? "Interquartile range over the iterations"
                  : a.has_convention ? "Counters of one iteration"
                                     : "Counters of all launches";
    table.columns = {{"implementation", a.has_convention ? "implementation" : "range", "", "", false}};
    for (const CounterRole& role : a.counter_roles)
        if (role.measured)
            table.columns.push_back({role.role, role.title, spread ? "" : role.meaning, "", true});
    for (const Implementation& i : a.implementations) {
        if (i.counters.empty()) continue;
        Row row;
        row.id = i.title;
        row.cells = {words_cell(i.title)};
        bool any = false;
        for (const CounterRole& role : a.counter_roles) {
            if (!role.measured) continue;
            const Measured* m = find_role(i.counters, role.role);
            row.cells.push_back(
                value_cell(m ? (spread ? m->spread : m->value) : Value::missing("not counted")));
            any = any || row.cells.back().value;
        }
        if (any || !spread) table.rows.push_back(std::move(row));
    }
    return table;
}

/// The first that has one: its value's own formula.
std::string example(const Analysis& a, const std::string& role) {
    for (const Implementation& i : a.implementations) {
        if (const Measured* m = find_role(i.counters, role); m && m->value)
            return ". Here, " + i.title + ": " + m->value.formula;
        for (const Step& s : i.steps)
            if (const Measured* m = find_role(s.counters, role); m && m->value)
                return ". Here, " + s.name + ": " + m->value.formula;
    }
    return {};
}

}  // namespace

std::string short_title(const CounterRole& role) {
    return role.title.substr(0, role.title.find(", per "));
}

Section counters_section(const Analysis& a) {
    Section section;
    section.id = "counters";
    section.title = "What the hardware counted";
    if (std::none_of(a.counter_roles.begin(), a.counter_roles.end(),
                     [](const CounterRole& r) { return r.measured; }))
        return section;
    const bool ranges = !a.counters_range.empty() && a.counters_range != "kernel";
    section.sentence =
        ranges ? "Each range as a whole, its kernels side by side as the program runs them."
               : "Kernels one by one, so none shares the GPU with another: amounts add up over an iteration, "
                 "shares are weighted by the cycles that they are of. Copies are not counted.";
    if (a.counter_ground == Ground::fixture)
        section.sentence += " These values come from a fixture file: no GPU measured them.";
    for (const bool spread : {false, true})
        if (Table table = table_of(a, spread); !table.rows.empty())
            section.tables.push_back(std::move(table));
    return section;
}

std::vector<std::string> uncounted(const Analysis& a) {
    ByReason by_reason;
    for (const CounterRole& role : a.counter_roles) {
        if (role.measured || !in_main_table(role.role)) continue;
        const std::string reason = role.absent.empty() ? "no kernel was launched" : role.absent;
        add_reason(by_reason, reason, short_title(role));
    }
    std::vector<std::string> out;
    for (const auto& [reason, titles] : by_reason) {
        std::string text = words::capital(words::join(titles) + ": " + reason);
        if (text.back() != '.') text += '.';
        out.push_back(std::move(text));
    }
    return out;
}

std::vector<Row> counter_methods(const Analysis& a) {
    std::vector<Row> rows;
    const std::string source = a.counter_ground == Ground::fixture
                                   ? "a fixture file: no GPU measured it"
                                   : "hardware counters, through CUPTI's Range Profiler";
    for (const CounterRole& role : a.counter_roles)
        if (role.measured) {
            std::string meaning = role.meaning;
            while (!meaning.empty() && meaning.back() == '.') meaning.pop_back();
            rows.push_back(words_row(role.title, meaning + example(a, role.role), source));
        }
    return rows;
}

}  // namespace attnscope::parts
