// The line-up, launch by launch.
#include <algorithm>

#include "analysis/words.h"
#include "findings.h"
#include "report_tables.h"

namespace attnscope::comparing {
namespace {

/// Of a step: its name, and the operation that launched it.
Cell step_cell(const Step* s) {
    if (!s) return words_cell("-");
    return words_cell((s->times > 1 ? std::to_string(s->times) + " x " : std::string()) + s->name,
                      s->full_name);
}

Table launches_table(const Comparison& c, const ImplementationPair& p, bool everything) {
    Table table;
    table.id = "launches-" + p.title();
    table.title = p.title();
    table.columns = {
        {"change", "change",
         "same, changed, replaced, resolved (a library call and its kernels), added, gone", "", false},
        {"a", "in A", "", "", false},
        {"b", "in " + c.name_b, "", "", false},
        {"differs", "what differs", "", "", false}};
    for (const StepPair& s : p.steps) {
        if (s.change == StepChange::same && !everything) continue;
        Row row;
        row.id = std::to_string(table.rows.size() + 1);
        row.cells = {words_cell(to_string(s.change)), step_cell(p.step_of_a(s)), step_cell(p.step_of_b(s)),
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

Section launches_section(const Comparison& c, bool everything) {
    Section section;
    section.id = "line-up";
    section.title = "Launch by launch";
    section.sentence =
        "Matched by kernel name or library operation in the order of issue, then by what they are for.";
    for (const ImplementationPair& p : c.pairs) {
        Table table = launches_table(c, p, everything);
        if (!table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

}  // namespace attnscope::comparing
