#pragma once
// The SVG of the three kinds of chart. Colour is never alone: series have marks or a number, predicted shapes
// are hollow.
#include <string>
#include <vector>

#include "attnscope/report.h"

namespace attnscope::reports {

struct Plot {
    double width = 0, height = 0;
    std::string svg;  ///< what is inside the <svg> element
};

inline constexpr double plot_width = 720;

std::vector<std::string> series_of(const Chart& chart);
/// "c": stands in a bar and in the legend, for who does not see the colours. No digit: it would read as a
/// value.
std::string series_letter(size_t series);
/// "s3": the series' colours repeat after eight.
std::string series_class(size_t series);
/// The mark of a scatter's series around (x, y).
std::string series_mark(size_t series, double x, double y, bool measured);

Plot plot_bars(const Chart& chart);
Plot plot_stacked(const Chart& chart);
Plot plot_scatter(const Chart& chart);

}  // namespace attnscope::reports
