#pragma once
// From a chart's values to places on the page.
#include <string>
#include <vector>

#include "../format.h"

namespace attnscope::reports {

struct Tick {
    double value = 0;
    std::string text;  ///< without the axis' unit
};

struct Axis {
    double from = 0, to = 1;  ///< values at the ends
    double from_px = 0, to_px = 1;
    bool log = false;
    Unit unit = Unit::none;
    Scale scale;  ///< of its ticks

    double at(double value) const;  ///< clamped to the axis; NaN is at its start
    /// At least `apart` beside one another, measured by `size` of their texts.
    std::vector<Tick> ticks(double apart, double (*size)(const Tick&)) const;
    std::string title(const std::string& words) const;  ///< "throughput (TFLOP/s)"
};

/// As the chart says; what it leaves open is fitted to the values.
Axis axis_for(const Chart::Axis& spec, const std::vector<double>& values);

std::string px(double coordinate);  ///< one decimal at most

}  // namespace attnscope::reports
