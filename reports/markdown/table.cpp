#include "table.h"

#include <algorithm>
#include <set>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "escape.h"

namespace attnscope::reports {
namespace {

constexpr size_t name_width = 60, words_width = 200, title_width = 40, text_width = 100;

std::string name_with_status(const RowView& row, const std::string& name) {
    switch (row.row->status) {
        case RowStatus::normal:
            return name;
        case RowStatus::best:
            return "★ **" + name + "**";
        default:
            return std::string(sign(row.row->status)) + " " + name + " (" + word(row.row->status) + ")";
    }
}

std::string text_of(const TableView& view, const RowView& row, size_t column) {
    const CellView& cell = row.cells[column];
    std::string text;
    switch (cell.kind) {
        case CellView::Kind::missing:
            text = cell.text + (cell.note > 0 ? superscript(cell.note) : "");
            break;
        case CellView::Kind::words: {
            const bool has_full = !cell.cell->full_text.empty();
            const std::string shortened =
                truncate(cell.text, has_full || column == 0 ? name_width : words_width);
            text = !has_full ? markdown_text(shortened) : markdown_code(shortened, true);
            break;
        }
        case CellView::Kind::number: {
            text = is_predicted(cell.cell->value) ? "*" + cell.text + "*" : cell.text;
            if (view.columns[column].shared_tag.empty()) text += superscript(cell.tag);
            break;
        }
    }
    return column == 0 ? name_with_status(row, text) : text;
}

std::string padded(const std::string& text, size_t width, bool right) {
    const std::string padding(width - std::min(width, width_of(text)), ' ');
    return right ? padding + text : text + padding;
}

using Grid = std::vector<std::vector<std::string>>;

std::string item(const std::string& markdown) {
    return markdown_lines(markdown, text_width, "- ", "  ");
}

/// A table of words reads better as a list: "- **quantity**: formula · source".
std::string list_of(const TableView& view) {
    std::string out;
    for (const RowView& row : view.rows) {
        std::string line;
        for (size_t c = 0; c < row.cells.size(); ++c) {
            const CellView& cell = row.cells[c];
            if (c > 1 && is_told(row, c)) continue;
            std::string text = markdown_text(cell.text) + (cell.note > 0 ? superscript(cell.note) : "");
            if (cell.kind == CellView::Kind::number)
                text = (is_predicted(cell.cell->value) ? "*" + text + "*" : text) + superscript(cell.tag);
            // A number needs its title; words speak for themselves, and so does the second of two or three.
            if (cell.kind != CellView::Kind::words && c > 1)
                text = markdown_text(view.columns[c].title) + " " + text;
            if (c == 0)
                line = name_with_status(row, "**" + text + "**");
            else
                line += (c == 1 ? ": " : " · ") + text;
        }
        out += item(line);
    }
    return out;
}

std::string padded_rows(const Grid& grid, const std::vector<bool>& right) {
    std::vector<size_t> widths(right.size(), 3);
    for (const auto& cells : grid)
        for (size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], width_of(cells[c]));
    std::string out;
    for (size_t r = 0; r < grid.size(); ++r) {
        std::string line = "|", rule = "|";
        for (size_t c = 0; c < right.size(); ++c) {
            line += " " + padded(grid[r][c], widths[c], right[c]) + " |";
            rule +=
                (right[c] ? std::string(widths[c] + 1, '-') + ":" : std::string(widths[c] + 2, '-')) + "|";
        }
        out += line + "\n" + (r == 0 ? rule + "\n" : "");
    }
    return out;
}

std::string row_notes(const TableView& view) {
    std::string out;
    for (const RowView& row : view.rows) {
        if (row.note.empty()) continue;
        const std::string name = row.cells.empty() ? row.row->id : row.cells[0].text;
        const bool ran = row.row->status == RowStatus::normal || row.row->status == RowStatus::best;
        out += item("**" + markdown_text(truncate(name, name_width)) + "**" +
                    (ran ? "" : std::string(" ") + word(row.row->status)) + ": " + markdown_text(row.note));
    }
    return out;
}

std::string footnotes(const TableView& view, const std::set<size_t>& notes) {
    std::string out;
    for (const size_t note : notes)
        if (note > 0) out += item(superscript(note) + " " + markdown_text(view.notes.reasons()[note - 1]));
    return out;
}

}  // namespace

std::string markdown_table(const Table& table) {
    const TableView view = view_of(table);
    if (view.columns.empty() || view.rows.empty()) return "(no rows)\n";
    const bool prose = is_prose(table);
    Grid grid(1 + view.rows.size());
    std::vector<bool> right;
    std::set<size_t> notes;
    std::string without_values;
    for (size_t c = 0; c < view.columns.size(); ++c) {
        const ColumnView& column = view.columns[c];
        if (c > 0 && !column.has_values && !prose) {
            without_values +=
                (without_values.empty() ? "" : ", ") + markdown_text(column.title + reason_for_all(view, c));
            continue;
        }
        right.push_back(column.column->numeric && c > 0);
        grid[0].push_back(markdown_text(truncate(column.title, title_width)) +
                          superscript(column.shared_tag));
        for (size_t r = 0; r < view.rows.size(); ++r) {
            grid[r + 1].push_back(text_of(view, view.rows[r], c));
            notes.insert(view.rows[r].cells[c].note);
        }
    }
    const std::string out = prose ? list_of(view) : padded_rows(grid, right) + "\n";
    std::string below = row_notes(view) + footnotes(view, notes);
    if (!without_values.empty()) below += item("No values, so not shown: " + without_values);
    return below.empty() ? (prose ? out : out.substr(0, out.size() - 1)) : out + below;
}

std::string markdown_full_names(const Table& table, std::set<std::string>& told) {
    std::string lines;
    size_t listed = 0;
    for (const Row& row : table.rows)
        for (const Cell& cell : row.cells) {
            if (cell.text.empty() || cell.full_text.empty() || cell.full_text == cell.text) continue;
            if (!told.insert(cell.text + '\n' + cell.full_text).second) continue;
            ++listed;
            lines += "- " + markdown_code(truncate(clean(cell.text), name_width)) + ":\n  " +
                     markdown_code(cell.full_text) + "\n";
        }
    if (lines.empty()) return {};
    return "<details><summary>Full names (" + std::to_string(listed) + ")</summary>\n\n" + lines +
           "\n</details>\n";
}

}  // namespace attnscope::reports
