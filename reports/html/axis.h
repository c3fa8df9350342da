#pragma once
// From a chart's values to places on the page.
#include <string>
#include <vector>

#include "../format.h"

namespace attnscope::reports {

struct Tick {
    double value = 0;
    std::string text;
};

struct Axis {
    double from = 0, to = 1;  ///< values at the ends
    double from_px = 0, to_px = 0;
    bool log = false;
    Unit unit = Unit::none;

    double at(double value) const;  ///< clamped to the axis; NaN is at its start
    std::vector<Tick> ticks(int about) const;
};

/// From 0 (or, logarithmic, from the decade below the least positive value) to `full`, or where that is 0 to
/// the next round number.
Axis axis_for(const std::vector<double>& values, double full, bool log, Unit unit);

std::string px(double coordinate);  ///< one decimal at most

}  // namespace attnscope::reports
