#include "table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "table_layout.h"
#include "value.h"

namespace attnscope::reports {
namespace {

constexpr size_t name_width = 72, words_width = 400, unbroken_width = 16;
constexpr size_t rows_open = 12;  // a longer table is folded, with its count

std::string bar(const CellView& view) {
    const Cell& cell = *view.cell;
    if (view.kind != CellView::Kind::number || !(cell.bar_of > 0)) return {};
    const double percent = std::clamp(*cell.value.number / cell.bar_of * 100, 0.0, 100.0);
    std::array<char, 32> width;
    const auto end =
        std::to_chars(width.data(), width.data() + width.size(), percent, std::chars_format::fixed, 1);
    std::string text(width.data(), end.ptr);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return "<svg aria-hidden=\"true\"><rect width=\"" + text + "%\"/></svg>";
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
    bool in_full = true;  ///< there is more where the mouse rests
    std::set<std::string> formulas;
};

/// A column's formula stands once, with the values of the first row that has it: other rows put theirs in its
/// place.
std::string without_numbers(const std::string& formula) {
    std::string out;
    for (const char c : formula)
        if (!std::isdigit(static_cast<unsigned char>(c)) && c != ',' && c != '.') out += c;
    return out;
}

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
    if (!told.formulas.insert(without_numbers(value.formula)).second) value.formula.clear();
    Formatted shown = format(*value.number, value.unit);
    // The text is the column's: same scale for all its cells.
    const bool rounded = shown.rounded || shown.with() != cell.text;
    const size_t space = cell.text.find(' ');
    shown.number = cell.text.substr(0, space);
    shown.unit = space == std::string::npos ? "" : cell.text.substr(space + 1);
    shown.rounded = rounded;
    if (!told.in_full) {
        value.formula.clear();
        shown.rounded = false;
    }
    return html_number(value, shown, told.in_full ? cell.cell->full_text : "") +
           (told.origin ? "" : "<sup>" + cell.tag + "</sup>");
}

/// A number that no GPU measured, where the table does not say so of all.
std::string in_italics(const CellView& cell, bool wanted, const std::string& text) {
    const bool italic = wanted && cell.kind == CellView::Kind::number && is_predicted(cell.cell->value);
    return italic ? "<i>" + text + "</i>" : text;
}

bool all_predicted(const TableView& view) {
    for (const RowView& row : view.rows)
        for (const CellView& cell : row.cells)
            if (cell.kind == CellView::Kind::number && !is_predicted(cell.cell->value)) return false;
    return true;
}

std::string head(const TableView& view, const TableLayout& layout) {
    std::string out = "<thead><tr>";
    for (size_t c = 0; c < view.columns.size(); ++c) {
        if (layout.left_out[c]) continue;
        const ColumnView& column = view.columns[c];
        const bool marked = !column.column->numeric && (!layout.by_place || c == 0);
        out += std::string("<th scope=\"col\"") + (marked ? " class=\"t\"" : "") + ">" + html(column.title);
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

/// A group's name stands once, beside all its rows.
std::string group_of(const TableView& view, size_t at, Ids& ids) {
    const std::string& name = view.rows[at].cells[0].text;
    if (at > 0 && view.rows[at - 1].cells[0].text == name) return {};
    size_t rows = 1;
    while (at + rows < view.rows.size() && view.rows[at + rows].cells[0].text == name) ++rows;
    return "<th scope=\"row\"" + (rows > 1 ? " rowspan=\"" + std::to_string(rows) + "\"" : "") + ">" +
           words_html(view.rows[at].cells[0], ids) + "</th>";
}

/// A cell of words where the style sheet does not know its column for one, or that is wide; "v": a number
/// among words.
std::string cell_tag(const Column& column, const CellView& cell, bool placed) {
    if (column.numeric) return "<td>";
    std::string css = width_of(cell.text) > unbroken_width ? "w" : placed ? "" : "t";
    if (cell.kind == CellView::Kind::number) css += css.empty() ? "v" : " v";
    return css.empty() ? "<td>" : "<td class=\"" + css + "\">";
}

std::string row_html(const TableView& view, size_t at, const TableLayout& layout, bool italic_table,
                     std::vector<Told>& told, Ids& ids) {
    const RowView& row = view.rows[at];
    std::string out = "<tr";
    if (row.row->status != RowStatus::normal)
        out += row.row->status == RowStatus::best ? " class=\"best\"" : " class=\"absent\"";
    out += ">";
    if (layout.grouped)
        out += group_of(view, at, ids) + "<th scope=\"row\">" + words_html(row.cells[1], ids) + "</th>";
    else
        out += (layout.scoped ? "<th scope=\"row\">" : "<th>") + name_of(row, ids) + "</th>";
    if (row.only_name) {
        const std::string why = row.note.empty() ? std::string(word(row.row->status)) : html(row.note);
        if (layout.shown > 1)
            out +=
                "<td colspan=\"" + std::to_string(layout.shown - 1) + "\" class=\"t why\">" + why + "</td>";
        return out + "</tr>\n";
    }
    for (size_t c = layout.named(); c < row.cells.size(); ++c) {
        if (layout.left_out[c]) continue;
        const CellView& cell = row.cells[c];
        out += cell_tag(*view.columns[c].column, cell, layout.by_place);
        out += in_italics(cell, !italic_table, content(cell, ids, told[c]) + bar(cell)) + "</td>";
    }
    out += "</tr>\n";
    if (!row.note.empty() && !has_short_note(row))
        out += "<tr class=\"note\"><td class=\"t\" colspan=\"" + std::to_string(layout.shown) + "\">" +
               html(row.note) + "</td></tr>\n";
    return out;
}

/// "block 128 x 1 x 1": the one value of a column that is not shown.
std::string same_value(const TableView& view, size_t column, Ids& ids) {
    for (const RowView& row : view.rows) {
        const CellView& cell = row.cells[column];
        if (cell.kind == CellView::Kind::missing) continue;
        Told told;
        return html(view.columns[column].title) + " <b>" + in_italics(cell, true, content(cell, ids, told)) +
               "</b>";
    }
    return {};
}

std::string same_values(const TableView& view, const TableLayout& layout, Ids& ids) {
    std::map<size_t, std::string, std::greater<>> by_rows;
    for (size_t c = 0; c < view.columns.size(); ++c)
        if (layout.same[c] > 0) {
            std::string& values = by_rows[layout.same[c]];
            values += (values.empty() ? "" : ", ") + same_value(view, c, ids);
        }
    std::string out;
    for (const auto& [rows, values] : by_rows)
        out += "<span class=\"same\">The same in all " + std::to_string(rows) + " rows" +
               (rows == view.rows.size() ? "" : " that have it") + ": " + values + ".</span> ";
    return out;
}

/// The numbered reasons that a cell in sight refers to, and the columns that are not shown.
std::string notes(const TableView& view, const TableLayout& layout, Ids& ids) {
    std::set<size_t> used;
    std::map<std::string, std::string> left_out;  // columns by their common reason
    for (size_t c = 0; c < view.columns.size(); ++c) {
        if (layout.same[c] > 0) continue;
        if (layout.left_out[c]) {
            std::string& titles = left_out[reason_for_all(view, c)];
            titles += (titles.empty() ? "" : ", ") + view.columns[c].title;
            continue;
        }
        for (const RowView& row : view.rows) used.insert(row.cells[c].note);
    }
    used.erase(0);
    std::string out = same_values(view, layout, ids), columns;
    for (const size_t note : used)
        out += "<span>" + std::string(dash) + "<sup>" + std::to_string(note) + "</sup>\xC2\xA0" +
               html(view.notes.reasons()[note - 1]) + ".</span> ";
    for (const auto& [reason, titles] : left_out)
        columns += (columns.empty() ? "" : "; ") + html(titles + reason);
    if (!columns.empty()) out += "<span>No values, so not shown: " + columns + ".</span>";
    return out.empty() ? out : "<p class=\"notes\">" + out + "</p>\n";
}

std::string below(const TableView& view, const TableLayout& layout, TableOptions options, Ids& ids) {
    std::string help;
    for (const ColumnView& column : view.columns)
        if (!column.column->meaning.empty())
            help += "<dt>" + html(column.title) + "</dt><dd>" + html(column.column->meaning) + "</dd>\n";
    const std::string said = notes(view, layout, ids);
    if (!options.column_help || help.empty()) return said;
    return said + "<details class=\"help\"><summary>What the columns mean</summary>\n<dl>\n" + help +
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
    const TableLayout layout = layout_of(view, options.same_once);
    std::string out = scroll_region(caption) + "<table class=\"d" + (layout.shown > 10 ? " wide" : "") +
                      (italic ? " p" : "") + (layout.grouped ? " g" : "") + places_of_words(view, layout) +
                      "\">\n<caption" + (options.title && !folded ? "" : " class=\"sr\"") +
                      "><span><b id=\"" + caption + "\">" + html(title) + "</b>" +
                      (table.sentence.empty() ? "" : " " + html(table.sentence)) + "</span></caption>\n" +
                      head(view, layout) + "<tbody>\n";
    std::vector<Told> told;
    for (const ColumnView& column : view.columns)
        told.push_back({!column.shared_tag.empty(), options.in_full, {}});
    for (size_t at = 0; at < view.rows.size(); ++at) out += row_html(view, at, layout, italic, told, ids);
    out += "</tbody></table></div>\n" + below(view, layout, options, ids);
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
           html_table(details, ids, {.title = false}) + "</details>\n";
}

}  // namespace attnscope::reports
