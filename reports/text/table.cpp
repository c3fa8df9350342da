#include "table.h"

#include <algorithm>
#include <set>

#include "../table_view.h"
#include "../unicode.h"
#include "../words.h"

namespace attnscope::reports {
namespace {

constexpr size_t gap = 2, name_width = 34;

struct TextColumn {
    const ColumnView* column = nullptr;
    size_t index = 0;
    std::vector<std::string> header;  // lines
    size_t width = 0;
};

std::string status_prefix(const Row& row) {
    return row.status == RowStatus::normal ? "" : std::string(sign(row.status)) + " ";
}

std::string text_of(const TextWriter& writer, const TableView& view, const RowView& row, size_t column) {
    const CellView& cell = row.cells[column];
    std::string text = cell.text;
    if (cell.kind == CellView::Kind::number && view.columns[column].shared_tag.empty())
        text += writer.tag(cell.tag);
    if (cell.note > 0) text += superscript(cell.note);
    if (column == 0) text = status_prefix(*row.row) + text;
    return column == 0 ? truncate(text, name_width) : truncate(text, 24);
}

/// A title takes as few columns as its numbers allow, over at most three lines.
TextColumn laid_out(const TextWriter& writer, const TableView& view, size_t index) {
    TextColumn result{&view.columns[index], index, {}, 0};
    for (const RowView& row : view.rows)
        if (!(row.only_name && index > 0))
            result.width = std::max(result.width, width_of(text_of(writer, view, row, index)));
    const std::string title = result.column->title + writer.tag(result.column->shared_tag);
    for (result.width = std::max<size_t>(result.width, 4);; ++result.width) {
        result.header = wrap(title, result.width);
        size_t longest_word = 0;
        for (size_t at = 0; at < title.size();) {
            const size_t end = std::min(title.find(' ', at), title.size());
            longest_word = std::max(longest_word, width_of(title.substr(at, end - at)));
            at = end + 1;
        }
        if ((result.header.size() <= 3 && longest_word <= result.width) || result.width >= 24) break;
    }
    if (result.header.size() > 3) result.header = {truncate(title, result.width)};
    return result;
}

struct Chosen {
    std::vector<TextColumn> columns;
    std::vector<std::string> dropped, without_values;
    std::set<size_t> notes;  ///< that the chosen columns refer to
};

/// Columns come in the order of their weight: one that does not fit any more is left out, and so is one
/// without values.
Chosen choose(const TextWriter& writer, const TableView& view, size_t width) {
    Chosen chosen;
    size_t used = 0;
    for (size_t i = 0; i < view.columns.size(); ++i) {
        if (i > 0 && !view.columns[i].has_values) {
            chosen.without_values.push_back(view.columns[i].title + reason_for_all(view, i));
            continue;
        }
        TextColumn column = laid_out(writer, view, i);
        const size_t needed = column.width + (used > 0 ? gap : 0);
        if (used + needed > width) {
            chosen.dropped.push_back(view.columns[i].title);
            continue;
        }
        used += needed;
        for (const RowView& row : view.rows) chosen.notes.insert(row.cells[i].note);
        chosen.columns.push_back(std::move(column));
    }
    return chosen;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

void write_header(TextWriter& writer, const std::vector<TextColumn>& columns) {
    size_t lines = 0, width = 0;
    for (const TextColumn& column : columns) {
        lines = std::max(lines, column.header.size());
        width += column.width + (column.index > 0 ? gap : 0);
    }
    for (size_t i = 0; i < lines; ++i) {
        std::string line;
        for (const TextColumn& column : columns) {
            const size_t above = lines - column.header.size();
            const std::string part = i < above ? "" : column.header[i - above];
            line += (column.index > 0 ? std::string(gap, ' ') : "") +
                    aligned(part, column.width, column.column->column->numeric);
        }
        writer.line(writer.styled(line.substr(0, line.find_last_not_of(' ') + 1), Style::bold));
    }
    writer.rule(width);
}

void write_row(TextWriter& writer, const TableView& view, const RowView& row,
               const std::vector<TextColumn>& columns) {
    std::string line;
    for (const TextColumn& column : columns) {
        if (row.only_name && column.index > 0) break;
        line +=
            (column.index > 0 ? std::string(gap, ' ') : "") +
            aligned(text_of(writer, view, row, column.index), column.width, column.column->column->numeric);
    }
    if (row.only_name) {
        line += std::string(gap, ' ') + word(row.row->status);
        if (!row.note.empty()) {
            const std::string sentence = ": " + row.note;
            if (width_of(line) + width_of(sentence) <= writer.width()) {
                writer.line(line + sentence);
                return;
            }
        }
        writer.line(truncate(line, writer.width()));
        if (!row.note.empty()) writer.paragraph("    ", row.note);
        return;
    }
    writer.line(line.substr(0, line.find_last_not_of(' ') + 1));
    if (!row.note.empty()) writer.paragraph("    ", row.note, Style::dim);
}

void write_notes(TextWriter& writer, const TableView& view, const std::set<size_t>& notes) {
    for (const size_t note : notes)
        if (note > 0) writer.paragraph(superscript(note) + " ", view.notes.reasons()[note - 1], Style::dim);
}

void write_list(TextWriter& writer, const TableView& view) {
    std::set<size_t> notes;
    for (const RowView& row : view.rows) {
        std::string line;
        for (size_t c = 0; c < row.cells.size(); ++c) {
            const CellView& cell = row.cells[c];
            if (c > 1 && is_told(row, c)) continue;
            std::string text = cell.text + (cell.note > 0 ? superscript(cell.note) : "");
            // A number needs its title; words speak for themselves, and so does the second of two or three.
            if (cell.kind == CellView::Kind::number) text += writer.tag(cell.tag);
            if (cell.kind != CellView::Kind::words && c > 1) text = view.columns[c].title + " " + text;
            line += (c == 0 ? "" : c == 1 ? ": " : " · ") + text;
            notes.insert(cell.note);
        }
        writer.paragraph("- " + status_prefix(*row.row), line);
        if (!row.note.empty()) writer.paragraph("    ", row.note);
    }
    write_notes(writer, view, notes);
}

}  // namespace

void write_table(TextWriter& writer, const Table& table) {
    const TableView view = view_of(table);
    if (view.columns.empty() || view.rows.empty()) {
        writer.line(truncate("(no rows)", writer.width()));
        return;
    }
    if (is_prose(table)) return write_list(writer, view);
    const Chosen chosen = choose(writer, view, writer.width());
    write_header(writer, chosen.columns);
    for (const RowView& row : view.rows) write_row(writer, view, row, chosen.columns);
    write_notes(writer, view, chosen.notes);
    if (!chosen.without_values.empty())
        writer.paragraph("", "No values, so not shown: " + joined(chosen.without_values) + ".", Style::dim);
    if (!chosen.dropped.empty())
        writer.paragraph(
            "",
            "Too wide for this terminal, see the Markdown or HTML report: " + joined(chosen.dropped) + ".",
            Style::dim);
}

}  // namespace attnscope::reports
