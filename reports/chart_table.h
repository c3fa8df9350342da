#pragma once
// A chart's numbers as the table that stands with it, the same in every format.
#include "attnscope/report.h"

namespace attnscope::reports {

/// A row for each point: what it is of, its series, x, and y where the points have one; then what is noted.
Table table_of(const Chart& chart);

/// It has the numbers that its kind draws.
bool is_drawn(const Chart& chart, const Chart::Point& point);

/// Of a stacked bar's parts, not one of them.
bool is_sum(const Chart& chart, const Chart::Point& point);

/// "Scale: full width: the SM's 64 warps.": what the axes' ends are, and how their numbers are made.
std::string scales_of(const Chart& chart);

}  // namespace attnscope::reports
