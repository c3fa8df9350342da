// Figures of two runs in tables: A, B, what is between them, and that of A.
#include <algorithm>
#include <set>

#include "analysis/words.h"
#include "report_tables.h"

namespace attnscope::comparing {
namespace {

/// A step's name; of several alike, how many.
std::string name_of(const Step& step) {
    return (step.times > 1 ? words::number(double(step.times)) + " x " : std::string()) + step.name;
}

Cell kernel_cell(const ImplementationPair& p, const StepPair& s) {
    const Step *a = p.step_of_a(s), *b = p.step_of_b(s);
    if (!a) return words_cell("added: " + name_of(*b), b->full_name);
    if (!b) return words_cell("gone: " + name_of(*a), a->full_name);
    if (s.change == StepChange::replaced)
        return words_cell(name_of(*a) + " -> " + name_of(*b), a->full_name + " -> " + b->full_name);
    return words_cell(name_of(*b), b->full_name);
}

/// A figure of a kernel, and of how many launches it is the same.
struct KernelFigure {
    Cell kernel;
    FigurePair figure;
    size_t times = 1;
};

/// What one of the two lacks because of how it was collected is no change of the kernel.
bool is_shown(const FigurePair& f, const StepPair& s, bool everything) {
    if (s.a < 0 || s.b < 0)
        return (f.a || f.b) && (f.id == "time" || f.id == "bytes" || f.id == "dram_bytes");
    return f.told_apart() || (everything && f.relation == Relation::not_told_apart);
}

bool alike(const KernelFigure& x, const Cell& kernel, const FigurePair& f) {
    return x.kernel.text == kernel.text && x.figure.id == f.id && x.figure.a.number == f.a.number &&
           x.figure.b.number == f.b.number;
}

std::vector<KernelFigure> kernel_figures(const ImplementationPair& p, bool everything) {
    std::vector<KernelFigure> out;
    for (const StepPair& s : p.steps) {
        if (s.change == StepChange::resolved) continue;
        for (FigurePair& f : step_figures(p.step_of_a(s), p.step_of_b(s))) {
            if (!is_shown(f, s, everything)) continue;
            Cell kernel = kernel_cell(p, s);
            const auto known = std::find_if(
                out.begin(), out.end(), [&](const KernelFigure& other) { return alike(other, kernel, f); });
            if (known != out.end())
                ++known->times;
            else
                out.push_back({std::move(kernel), std::move(f)});
        }
    }
    return out;
}

/// So many rows are read; the others are counted.
constexpr size_t kMostRows = 40;

Table kernels_table(const Comparison& c, const ImplementationPair& p, bool everything) {
    Table table;
    table.id = "kernels-" + p.title();
    table.title = p.title();
    table.columns = {{"kernel", "kernel", "", "", false}, {"what", "what", "", "", false}};
    add_figure_columns(table, c.name_b);
    const std::vector<KernelFigure> all = kernel_figures(p, everything);
    std::vector<const FigurePair*> shown;
    for (const KernelFigure& k : all) {
        if (!everything && table.rows.size() == kMostRows) break;
        Row row;
        row.id = std::to_string(table.rows.size() + 1);
        Cell kernel = k.kernel;
        if (k.times > 1) kernel.text = words::plural(double(k.times), "time") + " " + kernel.text;
        row.cells = {std::move(kernel), words_cell(k.figure.title)};
        add_figure(row, k.figure);
        table.rows.push_back(std::move(row));
        shown.push_back(&k.figure);
    }
    table.sentence = tilde_words(shown);
    if (table.rows.size() < all.size())
        table.sentence += (table.sentence.empty() ? "" : " ") +
                          words::plural(double(all.size() - table.rows.size()), "further difference") +
                          " with --details.";
    return table;
}

}  // namespace

std::vector<Cell> change_cells(const FigurePair& f) {
    if (f.relation == Relation::not_told_apart) return {words_cell("~"), words_cell("~")};
    if (f.relation == Relation::equal) return {words_cell("="), words_cell("=")};
    return {value_cell(f.difference()), value_cell(f.relative())};
}

void add_figure(Row& row, const FigurePair& f) {
    row.cells.push_back(value_cell(f.a));
    row.cells.push_back(value_cell(f.b));
    for (Cell& cell : change_cells(f)) row.cells.push_back(std::move(cell));
}

void add_figure_columns(Table& table, const std::string& name_b) {
    table.columns.push_back({"a", "A", "", "", true});
    table.columns.push_back({"b", name_b, "", "", true});
    table.columns.push_back({"difference", name_b + " - A", "", "", true});
    table.columns.push_back({"relative", "relative", "Of A's; ~ where they are not told apart.", "", true});
    for (size_t i = table.columns.size() - 2; i < table.columns.size(); ++i)
        table.columns[i].difference = true;
}

std::string tilde_words(const std::vector<const FigurePair*>& figures) {
    std::set<std::string> why;
    for (const FigurePair* f : figures)
        if (f->relation == Relation::not_told_apart) why.insert(f->note);
    if (why.empty()) return {};
    return "~ is not told apart: " + words::join({why.begin(), why.end()}, "; or ", "; ") + ".";
}

Section kernels_section(const Comparison& c, bool everything) {
    Section section;
    section.id = "kernel-changes";
    section.title = "What changed in the kernels";
    for (const ImplementationPair& p : c.pairs) {
        if (p.a->steps.empty() || p.b->steps.empty()) continue;
        Table table = kernels_table(c, p, everything);
        if (!table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

Section figures_section(const Comparison& c, bool everything) {
    Section section;
    section.id = "figures";
    section.title = "Figures side by side";
    for (const ImplementationPair& p : c.pairs) {
        if (p.a->steps.empty() || p.b->steps.empty()) continue;
        Table table;
        table.id = "figures-" + p.title();
        table.title = p.title();
        table.columns = {{"figure", "figure", "", "", false}};
        add_figure_columns(table, c.name_b);
        std::vector<const FigurePair*> shown;
        for (const FigurePair& f : p.figures) {
            // A figure that one run alone has is a difference of what was collected.
            if (!everything && !f.told_apart() && f.relation != Relation::not_told_apart &&
                bool(f.a) == bool(f.b))
                continue;
            Row row;
            row.id = f.id;
            row.cells = {words_cell(f.title)};
            add_figure(row, f);
            table.rows.push_back(std::move(row));
            shown.push_back(&f);
        }
        table.sentence = tilde_words(shown);
        if (!table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

}  // namespace attnscope::comparing
