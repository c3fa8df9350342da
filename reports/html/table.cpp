#include "table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "value.h"

namespace attnscope::reports {
namespace {

constexpr size_t name_width = 72, words_width = 400, unbroken_width = 16;
constexpr size_t rows_open = 12;  // a longer table is folded, with its count

std::string bar(const Cell& cell) {
    const double percent = std::clamp(*cell.value.number / cell.bar_of * 100, 0.0, 100.0);
    std::array<char, 32> width;
    const auto end =
        std::to_chars(width.data(), width.data() + width.size(), percent, std::chars_format::fixed, 1);
    return "<svg class=\"bar\" aria-hidden=\"true\"><rect width=\"" + std::string(width.data(), end.ptr) +
           "%\"/></svg>";
}

/// "8 x 8 x 16" is one thing.
std::string unbroken(std::string text) {
    for (size_t at = 0; (at = text.find(' ', at)) != std::string::npos;) text.replace(at, 1, "\xC2\xA0");
    return text;
}

std::string words_html(const CellView& cell, Ids& ids) {
    const std::string full = clean(cell.cell->full_text.empty() ? cell.text : cell.cell->full_text);
    const std::string shortened =
        truncate(cell.text, cell.cell->full_text.empty() ? words_width : name_width);
    if (full == shortened)
        return width_of(shortened) <= unbroken_width ? unbroken(html(shortened)) : html(shortened);
    bool fresh = false;
    const std::string place = ids.place_of(cell.text + '\n' + full, fresh);
    // A browser opens what a link to its place leads into.
    if (!fresh) return "<a class=\"name\" href=\"#" + place + "\">" + html(shortened) + "</a>";
    return "<details class=\"name\"><summary>" + html(shortened) + "</summary><code id=\"" + place + "\">" +
           html(full) + "</code></details>";
}

/// How the cells of one column are written, as far as its head or a cell above says it already.
struct Told {
    bool origin = false;
    std::set<std::string> formulas;
};

std::string content(const CellView& cell, Ids& ids, Told& told) {
    switch (cell.kind) {
        case CellView::Kind::words:
            return words_html(cell, ids);
        case CellView::Kind::missing:
            return dash + (cell.note > 0 ? "<sup>" + std::to_string(cell.note) + "</sup>" : "");
        case CellView::Kind::number:
            break;
    }
    Value value = cell.cell->value;
    if (!told.formulas.insert(value.formula).second) value.formula.clear();
    Formatted shown = format(*value.number, value.unit);
    // The text is the column's: same scale for all its cells.
    const bool rounded = shown.rounded || shown.with() != cell.text;
    const size_t space = cell.text.find(' ');
    shown.number = cell.text.substr(0, space);
    shown.unit = space == std::string::npos ? "" : cell.text.substr(space + 1);
    shown.rounded = rounded;
    return html_number(value, shown, cell.cell->full_text) +
           (told.origin ? "" : "<sup>" + cell.tag + "</sup>") +
           (cell.cell->bar_of > 0 ? bar(*cell.cell) : "");
}

bool all_predicted(const TableView& view) {
    for (const RowView& row : view.rows)
        for (const CellView& cell : row.cells)
            if (cell.kind == CellView::Kind::number && !is_predicted(cell.cell->value)) return false;
    return true;
}

/// A column without a single value is named below instead.
bool is_left_out(const TableView& view, size_t column) {
    return column > 0 && !view.columns[column].has_values;
}

size_t shown_columns(const TableView& view) {
    size_t count = 0;
    for (size_t c = 0; c < view.columns.size(); ++c) count += !is_left_out(view, c);
    return count;
}

std::string head(const TableView& view) {
    std::string out = "<thead><tr>";
    for (size_t c = 0; c < view.columns.size(); ++c) {
        if (is_left_out(view, c)) continue;
        const ColumnView& column = view.columns[c];
        out += std::string("<th scope=\"col\"") + (column.column->numeric ? "" : " class=\"t\"") + ">" +
               html(column.title);
        if (!column.shared_tag.empty()) out += "<sup>" + column.shared_tag + "</sup>";
        if (!column.column->bar_scale.empty())
            out += "<small>bar: " + html(column.column->bar_scale) + "</small>";
        out += "</th>";
    }
    return out + "</tr></thead>\n";
}

/// It fits under the name: "LibTorch chose flash."
bool has_short_note(const RowView& row) {
    return !row.only_name && !row.note.empty() && width_of(row.note) <= 24;
}

std::string name_of(const RowView& row, Ids& ids) {
    Told nothing;
    const std::string name = row.cells.empty() ? html(row.row->id) : content(row.cells[0], ids, nothing);
    const std::string note = has_short_note(row) ? "<small>" + html(row.note) + "</small>" : "";
    if (row.row->status == RowStatus::normal) return name + note;
    return name + " <span class=\"status\">" + sign(row.row->status) + "\xC2\xA0" + word(row.row->status) +
           "</span>" + note;
}

std::string row_html(const TableView& view, const RowView& row, bool italic_table, std::vector<Told>& told,
                     Ids& ids) {
    const size_t columns = shown_columns(view);
    std::string out = "<tr";
    if (row.row->status != RowStatus::normal)
        out += row.row->status == RowStatus::best ? " class=\"best\"" : " class=\"absent\"";
    out += "><th scope=\"row\">" + name_of(row, ids) + "</th>";
    if (row.only_name) {
        const std::string why = row.note.empty() ? std::string(word(row.row->status)) : html(row.note);
        if (columns > 1)
            out += "<td colspan=\"" + std::to_string(columns - 1) + "\" class=\"t why\">" + why + "</td>";
        return out + "</tr>\n";
    }
    for (size_t c = 1; c < row.cells.size(); ++c) {
        if (is_left_out(view, c)) continue;
        const CellView& cell = row.cells[c];
        out += view.columns[c].column->numeric        ? "<td>"
               : width_of(cell.text) > unbroken_width ? "<td class=\"w\">"
                                                      : "<td class=\"t\">";
        const std::string text = content(cell, ids, told[c]);
        const bool italic =
            !italic_table && cell.kind == CellView::Kind::number && is_predicted(cell.cell->value);
        out += (italic ? "<i>" + text + "</i>" : text) + "</td>";
    }
    out += "</tr>\n";
    if (!row.note.empty() && !has_short_note(row))
        out += "<tr class=\"note\"><td class=\"t\" colspan=\"" + std::to_string(columns) + "\">" +
               html(row.note) + "</td></tr>\n";
    return out;
}

/// The numbered reasons that a cell in sight refers to, and the columns that are not shown.
std::string notes(const TableView& view) {
    std::set<size_t> used;
    std::map<std::string, std::string> left_out;  // columns by their common reason
    for (size_t c = 0; c < view.columns.size(); ++c) {
        if (is_left_out(view, c)) {
            std::string& titles = left_out[reason_for_all(view, c)];
            titles += (titles.empty() ? "" : ", ") + view.columns[c].title;
            continue;
        }
        for (const RowView& row : view.rows) used.insert(row.cells[c].note);
    }
    used.erase(0);
    std::string out, columns;
    for (const size_t note : used)
        out += "<span>" + std::string(dash) + "<sup>" + std::to_string(note) + "</sup>\xC2\xA0" +
               html(view.notes.reasons()[note - 1]) + ".</span> ";
    for (const auto& [reason, titles] : left_out)
        columns += (columns.empty() ? "" : "; ") + html(titles + reason);
    if (!columns.empty()) out += "<span>No values, so not shown: " + columns + ".</span>";
    return out.empty() ? out : "<p class=\"notes\">" + out + "</p>\n";
}

std::string below(const TableView& view, TableOptions options) {
    std::string help;
    for (const ColumnView& column : view.columns)
        if (!column.column->meaning.empty())
            help += "<dt>" + html(column.title) + "</dt><dd>" + html(column.column->meaning) + "</dd>\n";
    if (!options.column_help || help.empty()) return notes(view);
    return notes(view) + "<details class=\"help\"><summary>What the columns mean</summary>\n<dl>\n" + help +
           "</dl></details>\n";
}

std::string count_of_rows(const TableView& view) {
    return with_separators(static_cast<double>(view.rows.size()), 0) + " rows";
}

/// The first column, and those of the others that are details, or are not.
Table part_of(const Table& table, bool details) {
    Table out = table;
    out.columns.clear();
    for (Row& row : out.rows) row.cells.clear();
    for (size_t c = 0; c < table.columns.size(); ++c) {
        if (c > 0 && table.columns[c].detail != details) continue;
        out.columns.push_back(table.columns[c]);
        for (size_t r = 0; r < table.rows.size(); ++r)
            if (c < table.rows[r].cells.size()) out.rows[r].cells.push_back(table.rows[r].cells[c]);
    }
    return out;
}

std::string titles(const Table& table) {
    std::string out;
    for (size_t c = 1; c < table.columns.size(); ++c)
        out += (c > 1 ? ", " : "") + html(table.columns[c].title);
    return out;
}

}  // namespace

std::string scroll_region(const std::string& labelled_by) {
    return "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-labelledby=\"" + labelled_by + "\">";
}

std::string html_table(const Table& table, Ids& ids, TableOptions options) {
    const TableView view = view_of(table);
    const std::string title = table.title.empty() ? "Table" : table.title;
    if (view.columns.empty() || view.rows.empty())
        return "<p class=\"empty\">" + html(title) + ": no rows. " + html(table.sentence) + "</p>\n";
    const std::string caption = ids.make("t-", table.id.empty() ? title : table.id);
    const bool italic = all_predicted(view), folded = options.fold && view.rows.size() > rows_open;
    std::string out = scroll_region(caption) + "<table class=\"d" +
                      (shown_columns(view) > 10 ? " wide" : "") + (italic ? " p" : "") + "\">\n<caption" +
                      (options.title && !folded ? "" : " class=\"sr\"") + "><span><b id=\"" + caption +
                      "\">" + html(title) + "</b>" +
                      (table.sentence.empty() ? "" : " " + html(table.sentence)) + "</span></caption>\n" +
                      head(view) + "<tbody>\n";
    std::vector<Told> told;
    for (const ColumnView& column : view.columns) told.push_back({!column.shared_tag.empty(), {}});
    for (const RowView& row : view.rows) out += row_html(view, row, italic, told, ids);
    out += "</tbody></table></div>\n" + below(view, options);
    if (!folded) return out;
    return "<details class=\"fold\"><summary><b>" + html(title) + "</b> " + html(table.sentence) + " <span>" +
           count_of_rows(view) + "</span></summary>\n" + out + "</details>\n";
}

std::string html_table_in_two(const Table& table, Ids& ids) {
    Table details = part_of(table, true);
    if (details.columns.size() < 2) return html_table(table, ids);
    const std::string names = titles(details);
    details.title += ": more columns";
    details.sentence.clear();
    for (Row& row : details.rows) row.note.clear();
    return html_table(part_of(table, false), ids) +
           "<details class=\"more\"><summary>More columns: " + names + "</summary>\n" +
           html_table(details, ids, {false, true, false}) + "</details>\n";
}

}  // namespace attnscope::reports
