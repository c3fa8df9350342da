#pragma once
#include "attnscope/report.h"
#include "writer.h"

namespace attnscope::reports {

/// One line a row, whatever the width: columns are left out from the right, and named below.
void write_table(TextWriter& writer, const Table& table);

}  // namespace attnscope::reports
