#pragma once
// Which columns of a table are shown, and what is said below it instead.
#include <string>
#include <vector>

#include "../table_view.h"

namespace attnscope::reports {

struct TableLayout {
    /// A first column of the id "group" stands once for the rows that have the same one.
    bool grouped = false;
    /// The style sheet knows columns of words by their place; where cells span rows a place is no column.
    bool by_place = false;
    /// A row's header must say that it is one: where its column has a cell of data (a note below a row), or
    /// its row has none, it is none by itself (HTML, "forming relationships between data cells and header
    /// cells").
    bool scoped = false;
    size_t shown = 0;            ///< columns
    std::vector<bool> left_out;  ///< a column without a value, or with the same one in all its rows
    std::vector<size_t> same;    ///< rows that have a column's one value; 0: it is not left out for that

    size_t named() const { return grouped ? 2 : 1; }  ///< columns that say what a row is of
};

/// `same_once`: a column with one value in all its rows is left out.
TableLayout layout_of(const TableView& view, bool same_once);

/// " t2 t5": the places of columns of words, but the first, as classes.
std::string places_of_words(const TableView& view, const TableLayout& layout);

}  // namespace attnscope::reports
