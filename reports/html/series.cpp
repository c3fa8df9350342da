// How series are told apart.
#include <algorithm>

#include "../chart_table.h"
#include "axis.h"
#include "plot.h"

namespace attnscope::reports {

std::vector<std::string> series_of(const Chart& chart) {
    std::vector<std::string> used, out;
    for (const Chart::Point& point : chart.points) {
        if (!is_sum(chart, point) && std::find(used.begin(), used.end(), point.series) == used.end())
            used.push_back(point.series);
    }
    for (const std::string& series : chart.series)
        if (std::find(used.begin(), used.end(), series) != used.end()) out.push_back(series);
    for (const std::string& series : used)
        if (std::find(out.begin(), out.end(), series) == out.end()) out.push_back(series);
    return out;
}

size_t series_number(const Chart& chart, const std::string& series) {
    const auto named = std::find(chart.series.begin(), chart.series.end(), series);
    if (named != chart.series.end()) return static_cast<size_t>(named - chart.series.begin());
    const auto used = series_of(chart);
    return static_cast<size_t>(std::find(used.begin(), used.end(), series) - used.begin());
}

std::string series_letter(size_t series) {
    return std::string(1, static_cast<char>('a' + series % 26));
}

std::string series_class(size_t series, bool measured) {
    return "s" + std::to_string(std::min<size_t>(series, 7) + 1) + (measured ? "" : " hollow");
}

std::string series_mark(size_t series, double x, double y, bool measured) {
    const std::string css = " class=\"" + series_class(series, measured) + "\"";
    const auto path = [&](const char* shape) {
        return "<path" + css + " d=\"M" + px(x) + " " + px(y) + shape + "z\"/>";
    };
    switch (series % 5) {
        case 0:
            return "<circle" + css + " cx=\"" + px(x) + "\" cy=\"" + px(y) + "\" r=\"4.5\"/>";
        case 1:
            return path("m-4-4h8v8h-8");
        case 2:
            return path("m0 5l-5-9h10");
        case 3:
            return path("m0-6l6 6-6 6-6-6");
        default:
            return path("m0-5l5 9h-10");
    }
}

}  // namespace attnscope::reports
