#include "report_tables.h"

#include <algorithm>

#include "analysis/words.h"
#include "findings.h"

namespace attnscope::comparing {
namespace {

Cell words_cell(std::string text) {
    Cell cell;
    cell.text = std::move(text);
    return cell;
}

Cell value_cell(Value value) {
    Cell cell;
    cell.value = std::move(value);
    return cell;
}

Value counted(double number, const Comparison& c) {
    return Value::of(number, Unit::count, {Source::trace, weaker(c.a->ground, c.b->ground)});
}

std::string both(const std::string& a, const std::string& b) {
    return a == b ? a : (a.empty() ? "none" : a) + " -> " + (b.empty() ? "none" : b);
}

Cell ratio_cell(const FigurePair& f, Ground ground) {
    if (const auto ratio = f.ratio())
        return value_cell(Value::of(*ratio, Unit::none, {Source::computed, ground},
                                    words::number(*f.b.number) + " / " + words::number(*f.a.number)));
    return value_cell(Value::missing(!f.a ? f.a.absent : !f.b ? f.b.absent : "A's is 0"));
}

Row alone(const Comparison& c, const std::string& title, bool in_a, size_t columns) {
    Row row;
    row.id = title;
    row.status = RowStatus::not_run;
    row.note = std::string("only in ") + (in_a ? "A (" + c.a->folder : "B (" + c.b->folder) + ")";
    row.cells = {words_cell(title)};
    while (row.cells.size() < columns)
        row.cells.push_back(value_cell(Value::missing(in_a ? "only in A" : "only in B")));
    return row;
}

/// Of a step: its name, and the operation that launched it.
Cell step_cell(const Implementation& i, int index) {
    if (index < 0) return words_cell("-");
    const Step& s = i.steps[static_cast<size_t>(index)];
    Cell cell = words_cell((s.times > 1 ? std::to_string(s.times) + " x " : std::string()) + s.name);
    if (s.full_name != s.name) cell.full_text = s.full_name;
    return cell;
}

Table launches_table(const ImplementationPair& p, bool everything) {
    Table table;
    table.id = "launches-" + p.title();
    table.title = p.title();
    table.columns = {
        {"change", "change",
         "same, changed, replaced, resolved (a library call and its kernels), added, gone", "", false},
        {"a", "in A", "", "", false},
        {"b", "in B", "", "", false},
        {"differs", "what differs", "", "", false}};
    for (const StepPair& s : p.steps) {
        if (s.change == StepChange::same && !everything) continue;
        Row row;
        row.id = std::to_string(table.rows.size() + 1);
        row.cells = {words_cell(to_string(s.change)), step_cell(*p.a, s.a), step_cell(*p.b, s.b),
                     words_cell(s.differences.empty() ? "-" : in_words(s.differences))};
        table.rows.push_back(std::move(row));
    }
    // "-" in every row says nothing.
    const bool differ =
        std::any_of(p.steps.begin(), p.steps.end(), [](const StepPair& s) { return !s.differences.empty(); });
    if (!differ) {
        table.columns.pop_back();
        for (Row& row : table.rows) row.cells.pop_back();
    }
    const double same = p.count(StepChange::same);
    table.sentence = words::plural(same, "launch") + (same == 1 ? " is" : " are") + " the same in both" +
                     (everything || same == 0 ? "." : ", not shown here.");
    return table;
}

}  // namespace

Table implementations_table(const Comparison& c) {
    Table table;
    table.id = "implementations";
    table.title = "Implementations";
    table.sentence = "One iteration of each, in A and in B.";
    table.columns = {{"implementation", "implementation", "", "", false},
                     {"time_a", "time in A", "Summed GPU time of one iteration, median.", "", true},
                     {"time_b", "time in B", "", "", true},
                     {"time", "B's time", "Less, more, or not told apart: within the spreads.", "", false},
                     {"launches_a", "launches in A", "Kernels, library calls, copies and memsets.", "", true},
                     {"launches_b", "launches in B", "", "", true},
                     {"added", "added", "Launches in B alone.", "", true},
                     {"gone", "gone", "Launches in A alone.", "", true},
                     {"other", "other", "The same work by another kernel, grid or size.", "", true},
                     {"backend", "backend", "A's, then B's where it is another.", "", false},
                     {"peak_a", "peak memory in A", "The allocator's.", "", true},
                     {"peak_b", "peak memory in B", "", "", true}};
    const bool in_a = c.a->timed(), in_b = c.b->timed();
    std::erase_if(table.columns, [&](const Column& column) {
        return (column.id == "time_a" && !in_a) || (column.id == "time_b" && !in_b) ||
               (column.id == "time" && !(in_a && in_b));
    });
    for (const ImplementationPair& p : c.pairs) {
        Row row;
        row.id = p.title();
        if (p.b->status == ImplementationStatus::refused) row.status = RowStatus::refused;
        if (p.b->status == ImplementationStatus::failed) row.status = RowStatus::failed;
        row.note = p.b->reason;
        row.cells = {words_cell(p.title())};
        if (in_a) row.cells.push_back(value_cell(p.a->time));
        if (in_b) row.cells.push_back(value_cell(p.b->time));
        if (in_a && in_b) row.cells.push_back(words_cell(to_string(p.figure("time").relation)));
        row.cells.push_back(value_cell(p.a->launches));
        row.cells.push_back(value_cell(p.b->launches));
        row.cells.push_back(value_cell(counted(p.count(StepChange::added), c)));
        row.cells.push_back(value_cell(counted(p.count(StepChange::gone), c)));
        row.cells.push_back(
            value_cell(counted(p.count(StepChange::replaced) + p.count(StepChange::changed), c)));
        const std::string backend = both(p.a->backend, p.b->backend);
        row.cells.push_back(backend.empty() ? value_cell(Value::missing("no backend of LibTorch"))
                                            : words_cell(backend));
        row.cells.push_back(value_cell(p.a->peak_memory));
        row.cells.push_back(value_cell(p.b->peak_memory));
        table.rows.push_back(std::move(row));
    }
    for (const std::string& title : c.only_a)
        table.rows.push_back(alone(c, title, true, table.columns.size()));
    for (const std::string& title : c.only_b)
        table.rows.push_back(alone(c, title, false, table.columns.size()));
    return table;
}

Section settings_section(const Comparison& c) {
    Section section;
    section.id = "settings";
    section.title = "Inputs, GPU and libraries that differ";
    const std::pair<const char*, const std::vector<Difference>*> groups[] = {
        {"inputs", &c.inputs}, {"machine", &c.machine}, {"libraries", &c.libraries}};
    for (const auto& [name, differences] : groups) {
        if (differences->empty()) continue;
        Table table;
        table.id = std::string("differing-") + name;
        table.title = name;
        table.columns = {
            {"what", "what", "", "", false}, {"a", "in A", "", "", false}, {"b", "in B", "", "", false}};
        for (const Difference& d : *differences) {
            Row row;
            row.id = d.what;
            row.cells = {words_cell(d.what), words_cell(d.a), words_cell(d.b)};
            table.rows.push_back(std::move(row));
        }
        section.tables.push_back(std::move(table));
    }
    return section;
}

Section launches_section(const Comparison& c, bool everything) {
    Section section;
    section.id = "line-up";
    section.title = "Launch by launch";
    section.sentence =
        "Matched by kernel name or library operation in the order of issue, then by what they are for.";
    for (const ImplementationPair& p : c.pairs) {
        Table table = launches_table(p, everything);
        if (!table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

Section figures_section(const Comparison& c, bool everything) {
    Section section;
    section.id = "figures";
    section.title = "Figures side by side";
    const Ground ground = weaker(c.a->ground, c.b->ground);
    for (const ImplementationPair& p : c.pairs) {
        if (p.a->steps.empty() || p.b->steps.empty()) continue;
        Table table;
        table.id = "figures-" + p.title();
        table.title = p.title();
        table.columns = {{"figure", "figure", "", "", false},
                         {"a", "A", "", "", true},
                         {"b", "B", "", "", true},
                         {"ratio", "B / A", "", "", true},
                         {"relation", "B's is",
                          "Less or more only where the difference is outside of both spreads.", "", false}};
        for (const FigurePair& f : p.figures) {
            // A figure that one run alone has is a difference of what was collected.
            const bool shown = everything || f.relation == Relation::less || f.relation == Relation::more ||
                               f.relation == Relation::not_told_apart || bool(f.a) != bool(f.b);
            if (!shown) continue;
            Row row;
            row.id = f.id;
            row.cells = {
                words_cell(f.title), value_cell(f.a), value_cell(f.b), ratio_cell(f, ground),
                words_cell(std::string(to_string(f.relation)) + (f.note.empty() ? "" : ": " + f.note))};
            table.rows.push_back(std::move(row));
        }
        if (!table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

}  // namespace attnscope::comparing
