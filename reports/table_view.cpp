#include "table_view.h"

#include <algorithm>
#include <set>

#include "format.h"
#include "unicode.h"
#include "words.h"

namespace attnscope::reports {
namespace {

bool is_blank(const Cell& cell) {
    return cell.text.empty() && !cell.value.number && cell.value.absent.empty();
}

bool did_run(RowStatus status) {
    return status == RowStatus::normal || status == RowStatus::best;
}

const Cell& cell_at(const Row& row, size_t column) {
    static const Cell none;
    return column < row.cells.size() ? row.cells[column] : none;
}

/// Nothing but its name is known, and its status in words at most.
bool only_name(const Table& table, const Row& row) {
    if (did_run(row.status)) return false;
    for (size_t c = 1; c < table.columns.size(); ++c) {
        const Cell& cell = cell_at(row, c);
        // That what did not run launched and copied nothing is no news.
        const bool known =
            is_shown(cell.value) && (*cell.value.number != 0 || row.status == RowStatus::failed);
        if (cell.text.empty() ? known : cell.text != word(row.status)) return false;
    }
    return true;
}

/// A column of "ran", "refused" ... says what the rows' marks say.
bool repeats_status(const Table& table, size_t column) {
    if (column == 0 || table.columns[column].id != "status") return false;
    return std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
        const std::string& text = cell_at(row, column).text;
        return text == (did_run(row.status) ? "ran" : word(row.status));
    });
}

Scale scale_of_column(const Table& table, size_t column) {
    std::vector<const Value*> values;
    for (const Row& row : table.rows)
        if (const Cell& cell = cell_at(row, column); cell.text.empty()) values.push_back(&cell.value);
    return shared_scale(values);
}

bool has_one_unit(const Table& table, size_t column) {
    const Value* first = nullptr;
    for (const Row& row : table.rows) {
        const Cell& cell = cell_at(row, column);
        if (!cell.text.empty() || !is_shown(cell.value)) continue;
        if (first && first->unit != cell.value.unit) return false;
        first = &cell.value;
    }
    return true;
}

/// The first note that is met is the first: columns without a single value stand in no table.
void number_by_sight(TableView& view) {
    const std::vector<std::string> reasons = view.notes.reasons();
    Footnotes notes;
    for (const bool with_values : {true, false})
        for (RowView& row : view.rows)
            for (size_t c = 0; c < row.cells.size(); ++c)
                if (row.cells[c].note > 0 && view.columns[c].has_values == with_values)
                    row.cells[c].note = notes.number_of(reasons[row.cells[c].note - 1]);
    view.notes = notes;
}

}  // namespace

std::string reason_for_all(const TableView& view, size_t column) {
    std::set<size_t> notes;
    for (const RowView& row : view.rows) notes.insert(row.cells[column].note);
    notes.erase(0);
    return notes.size() == 1 ? " (" + view.notes.reasons()[*notes.begin() - 1] + ")" : "";
}

bool is_prose(const Table& table) {
    return std::none_of(table.columns.begin(), table.columns.end(),
                        [](const Column& column) { return column.numeric; });
}

bool is_told(const RowView& row, size_t cell) {
    const size_t note = row.cells[cell].note;
    return note > 0 && std::any_of(row.cells.begin(), row.cells.begin() + static_cast<std::ptrdiff_t>(cell),
                                   [&](const CellView& earlier) { return earlier.note == note; });
}

size_t Footnotes::number_of(const std::string& reason) {
    const auto found = std::find(reasons_.begin(), reasons_.end(), reason);
    if (found != reasons_.end()) return static_cast<size_t>(found - reasons_.begin()) + 1;
    reasons_.push_back(reason);
    return reasons_.size();
}

TableView view_of(const Table& table) {
    TableView view;
    for (const Row& row : table.rows) view.rows.push_back({&row, {}, only_name(table, row), clean(row.note)});
    for (size_t c = 0; c < table.columns.size(); ++c) {
        if (repeats_status(table, c)) continue;
        ColumnView column{&table.columns[c], clean(table.columns[c].title), {}, false};
        const Scale scale = scale_of_column(table, c);
        const bool one_unit = has_one_unit(table, c);
        bool same_tag = true;
        for (RowView& row : view.rows) {
            const Cell& cell = cell_at(*row.row, c);
            CellView shown{CellView::Kind::missing, dash, {}, 0, &cell};
            if (!cell.text.empty()) {
                shown.kind = CellView::Kind::words;
                shown.text = clean(cell.text);
            } else if (is_shown(cell.value)) {
                const Value& value = cell.value;
                shown.kind = CellView::Kind::number;
                shown.text = one_unit ? format(*value.number, value.unit, scale).with()
                                      : format_with_words(*value.number, value.unit);
                if (column.column->difference && *value.number > 0) shown.text.insert(0, 1, '+');
                shown.tag = tag_of(value.provenance);
                if (column.shared_tag.empty()) column.shared_tag = shown.tag;
                same_tag = same_tag && column.shared_tag == shown.tag;
            } else if (!row.only_name && (did_run(row.row->status) || !is_blank(cell))) {
                shown.note = view.notes.number_of(clean(absent_reason(cell.value)));
            }
            column.has_values =
                column.has_values || (shown.kind != CellView::Kind::missing && !(row.only_name && c > 0));
            row.cells.push_back(std::move(shown));
        }
        if (!same_tag) column.shared_tag.clear();
        view.columns.push_back(std::move(column));
    }
    number_by_sight(view);
    return view;
}

}  // namespace attnscope::reports
