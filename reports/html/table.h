#pragma once
#include <string>

#include "attnscope/report.h"
#include "escape.h"

namespace attnscope::reports {

struct TableOptions {
    bool title = true;        ///< in the caption; else for screen readers alone
    bool column_help = true;  ///< "What the columns mean", folded
    bool fold = false;        ///< when it is long: its title, sentence and count of rows stay in sight
    bool in_full = true;      ///< what rounding left out, and formulas, where the mouse rests on a number
    bool same_once = false;   ///< a column with one value in all its rows is said below, and no column
};

/// A first column of the id "group" stands once for the rows that have the same one: of such a table rows
/// have neither status nor note. In a region that scrolls by itself on a narrow screen, with its notes below.
std::string html_table(const Table& table, Ids& ids, TableOptions options = {});

/// The columns that matter most, and the others in a folded table of their own.
std::string html_table_in_two(const Table& table, Ids& ids);

/// The region's opening tag: it can be reached and scrolled by keyboard.
std::string scroll_region(const std::string& labelled_by);

}  // namespace attnscope::reports
