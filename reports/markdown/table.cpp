#include "table.h"

#include <algorithm>
#include <set>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"
#include "escape.h"

namespace attnscope::reports {
namespace {

constexpr size_t name_width = 60, words_width = 200, title_width = 32, text_width = 100;

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

/// A table of words reads better as a list: "- **quantity**: formula · source".
std::string list_of(const TableView& view) {
    std::string out;
    for (const RowView& row : view.rows) {
        std::string line;
        for (const CellView& cell : row.cells) {
            const std::string text = markdown_text(cell.text);
            if (!text.empty())
                line += line.empty() ? "**" + text + "**: " : (line.ends_with(": ") ? "" : " · ") + text;
        }
        out += markdown_lines(line, text_width, "- ", "  ");
    }
    return out;
}

}  // namespace

std::string markdown_table(const Table& table) {
    const TableView view = view_of(table);
    if (view.columns.empty() || view.rows.empty()) return "(no rows)\n";
    if (is_prose(table)) return list_of(view);
    std::vector<std::vector<std::string>> grid(1);
    for (const ColumnView& column : view.columns)
        grid[0].push_back(markdown_text(truncate(column.title, title_width)) +
                          superscript(column.shared_tag));
    for (const RowView& row : view.rows) {
        auto& line = grid.emplace_back();
        for (size_t c = 0; c < view.columns.size(); ++c) line.push_back(text_of(view, row, c));
    }
    std::string out, rule = "|";
    for (size_t r = 0; r < grid.size(); ++r) {
        std::string line = "|";
        for (size_t c = 0; c < view.columns.size(); ++c) {
            size_t width = 3;
            for (const auto& cells : grid) width = std::max(width, width_of(cells[c]));
            const bool right = view.columns[c].column->numeric && c > 0;
            line += " " + padded(grid[r][c], width, right) + " |";
            if (r == 0)
                rule += (right ? std::string(width + 1, '-') + ":" : std::string(width + 2, '-')) + "|";
        }
        out += line + "\n";
        if (r == 0) out += rule + "\n";
    }
    std::string below;
    for (const RowView& row : view.rows) {
        if (row.note.empty()) continue;
        const std::string name = row.cells.empty() ? row.row->id : row.cells[0].text;
        const std::string status = word(row.row->status);
        const bool ran = row.row->status == RowStatus::normal || row.row->status == RowStatus::best;
        below += markdown_lines("**" + markdown_text(truncate(name, name_width)) + "**" +
                                    (ran ? "" : " " + status) + ": " + markdown_text(row.note),
                                text_width, "- ", "  ");
    }
    for (size_t i = 0; i < view.notes.reasons().size(); ++i)
        below += markdown_lines(superscript(i + 1) + " " + markdown_text(view.notes.reasons()[i]), text_width,
                                "- ", "  ");
    for (const ColumnView& column : view.columns)
        if (!column.column->bar_scale.empty() && column.column->meaning.empty())
            below += markdown_lines(
                "*" + markdown_text(column.title) + "*: of " + markdown_text(column.column->bar_scale),
                text_width, "- ", "  ");
    if (!below.empty()) out += "\n" + below;
    return out;
}

std::string markdown_full_names(const Table& table) {
    std::string lines;
    std::set<std::string> listed;
    for (const Row& row : table.rows)
        for (const Cell& cell : row.cells) {
            if (cell.text.empty() || cell.full_text.empty() || cell.full_text == cell.text) continue;
            if (!listed.insert(cell.text + '\n' + cell.full_text).second) continue;
            lines += "- " + markdown_code(truncate(clean(cell.text), name_width)) + ":\n  " +
                     markdown_code(cell.full_text) + "\n";
        }
    if (lines.empty()) return {};
    return "<details><summary>Full names (" + std::to_string(listed.size()) + ")</summary>\n\n" + lines +
           "\n</details>\n";
}

}  // namespace attnscope::reports
