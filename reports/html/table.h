#pragma once
#include <string>

#include "attnscope/report.h"
#include "escape.h"

namespace attnscope::reports {

struct TableOptions {
    bool title = true;        ///< in the caption; else for screen readers alone
    bool column_help = true;  ///< "What the columns mean", folded
};

/// In a region that scrolls by itself on a narrow screen, with its notes below.
std::string html_table(const Table& table, Ids& ids, TableOptions options = {});

/// The region's opening tag: it can be reached and scrolled by keyboard.
std::string scroll_region(const std::string& labelled_by);

}  // namespace attnscope::reports
