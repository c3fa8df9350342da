#include "table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "value.h"

namespace attnscope::reports {
namespace {

constexpr size_t name_width = 72, words_width = 400, unbroken_width = 16;

std::string bar(const Cell& cell) {
    const double percent = std::clamp(*cell.value.number / cell.bar_of * 100, 0.0, 100.0);
    std::array<char, 32> width;
    const auto end =
        std::to_chars(width.data(), width.data() + width.size(), percent, std::chars_format::fixed, 1);
    return "<svg class=\"bar\" aria-hidden=\"true\"><rect class=\"full\" width=\"100%\" height=\"5\"/><rect "
           "width=\"" +
           std::string(width.data(), end.ptr) + "%\" height=\"5\"/></svg>";
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

std::string content(const CellView& cell, Ids& ids) {
    switch (cell.kind) {
        case CellView::Kind::words:
            return words_html(cell, ids);
        case CellView::Kind::missing:
            return dash + (cell.note > 0 ? "<sup>" + std::to_string(cell.note) + "</sup>" : "");
        case CellView::Kind::number:
            break;
    }
    const Value& value = cell.cell->value;
    Formatted shown = format(*value.number, value.unit);
    // The text is the column's: same scale for all its cells.
    const bool rounded = shown.rounded || shown.with() != cell.text;
    const size_t space = cell.text.find(' ');
    shown.number = cell.text.substr(0, space);
    shown.unit = space == std::string::npos ? "" : cell.text.substr(space + 1);
    shown.rounded = rounded;
    return html_number(value, shown, cell.cell->full_text) + (cell.cell->bar_of > 0 ? bar(*cell.cell) : "");
}

std::string head(const TableView& view) {
    std::string out = "<thead><tr>";
    for (const ColumnView& column : view.columns) {
        out += std::string("<th scope=\"col\"") + (column.column->numeric ? " class=\"n\"" : "") + ">" +
               html(column.title);
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
    const std::string name = row.cells.empty() ? html(row.row->id) : content(row.cells[0], ids);
    const std::string note = has_short_note(row) ? "<small>" + html(row.note) + "</small>" : "";
    if (row.row->status == RowStatus::normal) return name + note;
    return name + " <span class=\"status\">" + sign(row.row->status) + "\xC2\xA0" + word(row.row->status) +
           "</span>" + note;
}

std::string row_html(const TableView& view, const RowView& row, Ids& ids) {
    std::string out = "<tr";
    if (row.row->status != RowStatus::normal)
        out += row.row->status == RowStatus::best ? " class=\"best\"" : " class=\"absent\"";
    out += "><th scope=\"row\">" + name_of(row, ids) + "</th>";
    if (row.only_name) {
        const std::string why = row.note.empty() ? std::string(word(row.row->status)) : html(row.note);
        if (view.columns.size() > 1)
            out += "<td colspan=\"" + std::to_string(view.columns.size() - 1) + "\" class=\"why\">" + why +
                   "</td>";
        return out + "</tr>\n";
    }
    for (size_t c = 1; c < row.cells.size(); ++c) {
        const CellView& cell = row.cells[c];
        const bool right = view.columns[c].column->numeric;
        out += right ? "<td class=\"n\"" : width_of(cell.text) > unbroken_width ? "<td class=\"w\"" : "<td";
        if (cell.note > 0) out += " title=\"" + html(view.notes.reasons()[cell.note - 1]) + "\"";
        out += ">" + content(cell, ids) + "</td>";
    }
    out += "</tr>\n";
    if (!row.note.empty() && !has_short_note(row))
        out += "<tr class=\"note\"><td colspan=\"" + std::to_string(view.columns.size()) + "\">" +
               html(row.note) + "</td></tr>\n";
    return out;
}

std::string below(const TableView& view, TableOptions options) {
    std::string out;
    if (!view.notes.reasons().empty()) {
        out += "<p class=\"notes\">";
        for (size_t i = 0; i < view.notes.reasons().size(); ++i)
            out += (i > 0 ? " " : "") +
                   ("<span>" + std::string(dash) + "<sup>" + std::to_string(i + 1) + "</sup>\xC2\xA0") +
                   html(view.notes.reasons()[i]) + ".</span>";
        out += "</p>\n";
    }
    std::string help;
    for (const ColumnView& column : view.columns)
        if (!column.column->meaning.empty())
            help += "<dt>" + html(column.title) + "</dt><dd>" + html(column.column->meaning) + "</dd>\n";
    if (options.column_help && !help.empty())
        out += "<details class=\"help\"><summary>What the columns mean</summary>\n<dl>\n" + help +
               "</dl></details>\n";
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
    const char* css = view.columns.size() > 12 ? " class=\"wide\"" : "";
    std::string out = scroll_region(caption) + "<table" + css + ">\n<caption" +
                      (options.title ? "" : " class=\"sr\"") + "><span><b id=\"" + caption + "\">" +
                      html(title) + "</b>" + (table.sentence.empty() ? "" : " " + html(table.sentence)) +
                      "</span></caption>\n" + head(view) + "<tbody>\n";
    for (const RowView& row : view.rows) out += row_html(view, row, ids);
    return out + "</tbody></table></div>\n" + below(view, options);
}

}  // namespace attnscope::reports
