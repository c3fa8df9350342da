#include "table_layout.h"

#include <algorithm>

namespace attnscope::reports {
namespace {

constexpr size_t least_same = 3;    // rows of which one can say so
constexpr size_t most_places = 20;  // report.css has t2 to t20

/// The rows of a column whose values are all the same: none where they are not, or are too few to say so.
size_t same_rows(const TableView& view, size_t column) {
    const CellView* first = nullptr;
    size_t rows = 0;
    for (const RowView& row : view.rows) {
        const CellView& cell = row.cells[column];
        if (row.only_name) return 0;
        if (cell.kind == CellView::Kind::missing) continue;
        if (!cell.cell->full_text.empty()) return 0;  // there is more to unfold
        if (first && (first->text != cell.text || first->tag != cell.tag ||
                      first->cell->value.number != cell.cell->value.number))
            return 0;
        first = &cell;
        ++rows;
    }
    return rows >= least_same ? rows : 0;
}

bool is_in_sight(const TableLayout& layout, const RowView& row, size_t note) {
    for (size_t c = 1; c < layout.left_out.size(); ++c)
        if (!layout.left_out[c] && row.cells[c].note == note) return true;
    return false;
}

/// A dash has its reason in sight: no row has one in this column that no shown column of it says.
bool keeps_reasons(const TableView& view, const TableLayout& layout, size_t column) {
    return std::all_of(view.rows.begin(), view.rows.end(), [&](const RowView& row) {
        const CellView& cell = row.cells[column];
        return cell.kind != CellView::Kind::missing || is_in_sight(layout, row, cell.note);
    });
}

}  // namespace

TableLayout layout_of(const TableView& view, bool same_once) {
    TableLayout layout;
    layout.grouped = view.columns.size() > 1 && view.columns.front().column->id == "group";
    for (size_t c = 0; c < view.columns.size(); ++c) {
        const bool may = c >= layout.named(), empty = may && !view.columns[c].has_values;
        layout.same.push_back(may && !empty && same_once ? same_rows(view, c) : 0);
        layout.left_out.push_back(empty || layout.same.back() > 0);
    }
    for (size_t c = 0; c < view.columns.size(); ++c)
        if (layout.same[c] > 0 && !keeps_reasons(view, layout, c)) {
            layout.same[c] = 0;
            layout.left_out[c] = false;
        }
    layout.shown = static_cast<size_t>(std::count(layout.left_out.begin(), layout.left_out.end(), false));
    layout.by_place = !layout.grouped && layout.shown <= most_places;
    layout.scoped = layout.shown < 2 || std::any_of(view.rows.begin(), view.rows.end(),
                                                    [](const RowView& row) { return !row.note.empty(); });
    return layout;
}

std::string places_of_words(const TableView& view, const TableLayout& layout) {
    std::string out;
    if (!layout.by_place) return out;
    size_t place = 0;
    for (size_t c = 0; c < view.columns.size(); ++c) {
        place += !layout.left_out[c];
        if (c > 0 && !layout.left_out[c] && !view.columns[c].column->numeric)
            out += " t" + std::to_string(place);
    }
    return out;
}

}  // namespace attnscope::reports
