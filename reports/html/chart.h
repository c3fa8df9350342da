#pragma once
#include <string>

#include "attnscope/report.h"
#include "escape.h"

namespace attnscope::reports {

/// A figure: inline SVG with a title and description, its legend, its sentence, and its numbers as a folded
/// table.
std::string html_chart(const Chart& chart, Ids& ids);

}  // namespace attnscope::reports
