#include "report_tables.h"

#include <algorithm>
#include <functional>

#include "analysis/words.h"
#include "findings.h"

namespace attnscope::comparing {
namespace {

Value counted(double number, const Comparison& c) {
    return Value::of(number, Unit::count, {Source::trace, weaker(c.a->ground, c.b->ground)});
}

std::string both(const std::string& a, const std::string& b) {
    return a == b ? a : (a.empty() ? "none" : a) + " -> " + (b.empty() ? "none" : b);
}

bool timed(const std::vector<Comparison>& all) {
    return all.front().a->timed() ||
           std::any_of(all.begin(), all.end(), [](const Comparison& c) { return c.b->timed(); });
}

/// One implementation of A in all comparisons; nullptr where one has no partner for it.
struct Partners {
    const Implementation* a;
    std::string title;
    std::vector<const ImplementationPair*> in;
};

/// Quantities stand side by side, run by run.
enum class Group : uint8_t { time, launches, changes, backend, memory };

/// A column and its cells, said in one place.
struct Part {
    Group group;
    Column column;
    std::function<Cell(const Partners&)> cell;
};

class Parts {
  public:
    explicit Parts(const std::vector<Comparison>& all) : several_(all.size() > 1) {
        const bool times = timed(all);
        if (times)
            of_a(Group::time, {"time_a", "time in A", "Summed GPU time of one iteration, median.", "", true},
                 &Implementation::time);
        of_a(Group::launches,
             {"launches_a", "launches in A", "Kernels, library calls, copies and memsets.", "", true},
             &Implementation::launches);
        of_a(Group::memory, {"peak_a", "peak memory in A", "The allocator's.", "", true},
             &Implementation::peak_memory);
        for (size_t k = 0; k < all.size(); ++k) of_b(all[k], k, times);
        std::stable_sort(parts_.begin(), parts_.end(),
                         [](const Part& x, const Part& y) { return x.group < y.group; });
    }
    const std::vector<Part>& all() const { return parts_; }

  private:
    void of_a(Group group, Column column, Value Implementation::*value) {
        parts_.push_back(
            {group, std::move(column), [value](const Partners& p) { return value_cell(p.a->*value); }});
    }

    void of_b(const Comparison& c, size_t k, bool times) {
        const std::string& b = c.name_b;
        const std::string id = several_ ? "_" + b : "_b";
        const auto add = [&](Group group, Column column, auto cell) {
            parts_.push_back({group, std::move(column), [k, cell, name = b](const Partners& p) {
                                  return p.in[k] ? cell(*p.in[k])
                                                 : value_cell(Value::missing("not in " + name));
                              }});
        };
        if (times && c.b->timed())
            add(Group::time, {"time" + id, "time in " + b, "", "", true},
                [](const ImplementationPair& p) { return value_cell(p.b->time); });
        if (c.a->timed() && c.b->timed()) {
            add(Group::time,
                {"change" + id, b + " - A", "Of the times; ~ where they are not told apart.", "", true, true},
                [](const ImplementationPair& p) { return change_cells(p.figure("time"))[0]; });
            add(Group::time,
                {"relative" + id, several_ ? b + " relative" : "relative", "The same, of A's time.", "", true,
                 true},
                [](const ImplementationPair& p) { return change_cells(p.figure("time"))[1]; });
        }
        add(Group::launches, {"launches" + id, "launches in " + b, "", "", true},
            [](const ImplementationPair& p) { return value_cell(p.b->launches); });
        changes(c, id, add);
        add(Group::backend,
            {"backend" + id, several_ ? "backend in " + b : "backend",
             "A's, then " + b + "'s where it is another.", "", false},
            [](const ImplementationPair& p) {
                const std::string backend = both(p.a->backend, p.b->backend);
                return backend.empty() ? value_cell(Value::missing("no backend of LibTorch"))
                                       : words_cell(backend);
            });
        add(Group::memory, {"peak" + id, "peak memory in " + b, "", "", true},
            [](const ImplementationPair& p) { return value_cell(p.b->peak_memory); });
    }

    template <class Add>
    void changes(const Comparison& c, const std::string& id, const Add& add) {
        const auto launches = [&](const char* of, const std::string& title, const std::string& meaning,
                                  std::vector<StepChange> kinds) {
            add(Group::changes, {of + id, title, meaning, "", true},
                [&c, kinds](const ImplementationPair& p) {
                    double sum = 0;
                    for (const StepChange kind : kinds) sum += p.count(kind);
                    return value_cell(counted(sum, c));
                });
        };
        using enum StepChange;
        if (several_)
            return launches("differ", "other in " + c.name_b,
                            "Launches added, gone, or by another kernel, grid or size.",
                            {added, gone, replaced, changed});
        launches("added", "added", "Launches in " + c.name_b + " alone.", {added});
        launches("gone", "gone", "Launches in A alone.", {gone});
        launches("other", "other", "The same work by another kernel, grid or size.", {replaced, changed});
    }

    bool several_;
    std::vector<Part> parts_;
};

std::vector<Partners> partners(const std::vector<Comparison>& all) {
    std::vector<Partners> out;
    for (size_t k = 0; k < all.size(); ++k)
        for (const ImplementationPair& p : all[k].pairs) {
            auto known = std::find_if(out.begin(), out.end(), [&](const Partners& one) {
                return one.a == p.a && one.title == p.title();
            });
            if (known == out.end())
                known = out.insert(out.end(),
                                   {p.a, p.title(), std::vector<const ImplementationPair*>(all.size())});
            known->in[k] = &p;
        }
    return out;
}

/// Of what stands in one of the two runs alone.
Row alone(const std::string& title, const std::string& name, const std::string& folder, size_t columns) {
    Row row;
    row.id = title;
    row.status = RowStatus::not_run;
    row.note = "only in " + name + " (" + folder + ")";
    row.cells = {words_cell(title)};
    while (row.cells.size() < columns) row.cells.push_back(value_cell(Value::missing("only in " + name)));
    return row;
}

}  // namespace

Table implementations_table(const std::vector<Comparison>& all) {
    const Parts parts(all);
    const std::vector<Partners> rows = partners(all);
    Table table;
    table.id = "implementations";
    table.title = "Implementations";
    table.sentence = "One iteration of each, in each run.";
    table.columns = {{"implementation", "implementation", "", "", false}};
    for (const Part& part : parts.all()) table.columns.push_back(part.column);
    for (const Partners& one : rows) {
        Row row;
        row.id = one.title;
        row.cells = {words_cell(one.title)};
        for (const Part& part : parts.all()) row.cells.push_back(part.cell(one));
        if (all.size() == 1) {
            const Implementation& b = *one.in[0]->b;
            if (b.status == ImplementationStatus::refused) row.status = RowStatus::refused;
            if (b.status == ImplementationStatus::failed) row.status = RowStatus::failed;
            row.note = b.reason;
        }
        table.rows.push_back(std::move(row));
    }
    const auto told = [&](const std::string& title) {
        return std::any_of(table.rows.begin(), table.rows.end(),
                           [&](const Row& row) { return row.id == title; });
    };
    for (const Comparison& c : all)
        for (const std::string& title : c.only_a)
            if (!told(title)) table.rows.push_back(alone(title, "A", c.a->folder, table.columns.size()));
    for (const Comparison& c : all)
        for (const std::string& title : c.only_b)
            table.rows.push_back(alone(title, c.name_b, c.b->folder, table.columns.size()));
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
        table.columns = {{"what", "what", "", "", false},
                         {"a", "in A", "", "", false},
                         {"b", "in " + c.name_b, "", "", false}};
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

Told::Told(const Comparison& c) : comparison(c) {
    if (!c.nothing.empty()) return;
    std::string absent;
    findings = compare_findings(c);
    errors = prediction_errors(c, absent);
}

Section findings_section(const Told& told) {
    Section section;
    section.id = "finding-changes";
    section.title = "Findings, new and gone";
    const FindingChanges& changes = told.findings;
    section.sentence =
        words::plural(double(changes.same), "finding") + (changes.same == 1 ? " is" : " are") + " in both";
    if (changes.one_sided > 0)
        section.sentence += "; " + words::number(double(changes.one_sided)) +
                            " of rules that need a GPU, or need none, are no change";
    section.sentence += ".";
    Table table;
    table.id = "finding-changes";
    table.title = "new, gone, or of another severity";
    table.columns = {{"change", "change", "", "", false},
                     {"claim", "claim", "", "", false},
                     {"rule", "rule", "", "", false}};
    for (const FindingChange& change : changes.all) {
        Row row;
        row.id = change.finding.id + "/" + change.finding.subject;
        const std::string kind = change.kind == FindingChange::Kind::added  ? "new"
                                 : change.kind == FindingChange::Kind::gone ? "gone"
                                                                            : "another severity";
        row.cells = {words_cell(kind), words_cell(change.finding.claim), words_cell(change.finding.id)};
        table.rows.push_back(std::move(row));
    }
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
    return section;
}

}  // namespace attnscope::comparing
