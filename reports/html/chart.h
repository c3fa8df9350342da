#pragma once
#include <string>
#include <vector>

#include "attnscope/report.h"
#include "escape.h"

namespace attnscope::reports {

/// Figures side by side where there is room: each with what it shows, its legend, inline SVG with a title and
/// a description, what its axes mean, and its numbers as a folded table. One without points is a sentence.
std::string html_charts(const std::vector<Chart>& charts, Ids& ids);

}  // namespace attnscope::reports
