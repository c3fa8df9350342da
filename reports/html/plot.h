#pragma once
// The SVG of a chart. Colour is never alone: series have marks or letters, predicted shapes are hollow.
#include <string>
#include <vector>

#include "attnscope/report.h"

namespace attnscope::reports {

struct Plot {
    double height = 0;
    std::string svg;  ///< what is inside the <svg> element
};

inline constexpr double plot_width = 360;

/// Those that the points have, in the order of the chart. A sum of a stacked bar has none.
std::vector<std::string> series_of(const Chart& chart);
/// Place among all that the chart names: the same series has the same colour in charts that share the order.
size_t series_number(const Chart& chart, const std::string& series);
/// "c": stands in a bar and in the legend, for who does not see the colours. No digit: it would read as a
/// value.
std::string series_letter(size_t series);
/// "s3"; from the eighth on the last, which is grey.
std::string series_class(size_t series, bool measured);
/// The mark of a series around (x, y).
std::string series_mark(size_t series, double x, double y, bool measured);

/// `pattern`: of the hatching, an id of the page; empty: nothing is hatched.
Plot plot_rows(const Chart& chart, const std::string& pattern);
Plot plot_scatter(const Chart& chart);

}  // namespace attnscope::reports
