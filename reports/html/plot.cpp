#include "plot.h"

#include <algorithm>
#include <cmath>

#include "../unicode.h"

#include "axis.h"
#include "escape.h"

namespace attnscope::reports {
namespace {

constexpr double letter = 7;  // of 12 px text, in a wide font
constexpr size_t label_letters = 38;

std::string text(double x, double y, const std::string& words, const char* attributes = "") {
    return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\"" + attributes + ">" + words + "</text>";
}

std::string line(double x1, double y1, double x2, double y2, const char* css) {
    return "<path class=\"" + std::string(css) + "\" d=\"M" + px(x1) + " " + px(y1) + "L" + px(x2) + " " +
           px(y2) + "\"/>";
}

std::string rect(double x, double y, double width, double height, const std::string& css) {
    return "<rect class=\"" + css + "\" x=\"" + px(x) + "\" y=\"" + px(y) + "\" width=\"" +
           px(std::max(width, 0.8)) + "\" height=\"" + px(height) + "\"/>";
}

std::string label_of(const std::string& raw) {
    return html(truncate(clean(raw), label_letters));
}

std::string css_of(size_t series, bool measured) {
    return series_class(series) + (measured ? "" : " hollow");
}

size_t index_of(const std::vector<std::string>& list, const std::string& item) {
    return static_cast<size_t>(std::find(list.begin(), list.end(), item) - list.begin());
}

std::vector<std::string> labels_of(const Chart& chart) {
    std::vector<std::string> labels;
    for (const Chart::Point& point : chart.points)
        if (index_of(labels, point.label) == labels.size()) labels.push_back(point.label);
    return labels;
}

double label_width(const std::vector<std::string>& labels) {
    size_t letters = 4;
    for (const std::string& label : labels)
        letters = std::max(letters, std::min(width_of(clean(label)), label_letters));
    return static_cast<double>(letters) * letter + 12;
}

std::string x_grid(const Axis& axis, double top, double bottom, const std::string& title) {
    std::string out;
    for (const Tick& tick : axis.ticks(6)) {
        const double x = axis.at(tick.value);
        out += line(x, top, x, bottom, "grid") +
               text(x, bottom + 16, tick.text, " class=\"tick\" text-anchor=\"middle\"");
    }
    out += line(axis.from_px, bottom, axis.to_px, bottom, "axis");
    return out + text((axis.from_px + axis.to_px) / 2, bottom + 34, title,
                      " class=\"what\" text-anchor=\"middle\"");
}

std::string axis_title(const Chart& chart) {
    std::string title = chart.x_title;
    if (!chart.x_scale.empty()) title += (title.empty() ? "" : ", ") + ("full width: " + chart.x_scale);
    if (chart.x_log) title += " (logarithmic)";
    return html(truncate(clean(title), 100));
}

std::vector<double> values_of(const Chart& chart, bool x) {
    std::vector<double> values;
    for (const Chart::Point& point : chart.points) values.push_back(x ? point.x : point.y);
    return values;
}

}  // namespace

std::vector<std::string> series_of(const Chart& chart) {
    std::vector<std::string> series;
    for (const Chart::Point& point : chart.points)
        if (index_of(series, point.series) == series.size()) series.push_back(point.series);
    return series;
}

std::string series_letter(size_t series) {
    return std::string(1, static_cast<char>('a' + series % 26));
}

std::string series_class(size_t series) {
    return "s" + std::to_string(series % 8 + 1);
}

std::string series_mark(size_t series, double x, double y, bool measured) {
    const std::string css = " class=\"" + css_of(series, measured) + "\"";
    const auto path = [&](std::initializer_list<std::pair<double, double>> corners) {
        std::string d;
        for (const auto& [dx, dy] : corners) d += (d.empty() ? "M" : "L") + px(x + dx) + " " + px(y + dy);
        return "<path" + css + " d=\"" + d + "Z\"/>";
    };
    switch (series % 5) {
        case 0:
            return "<circle" + css + " cx=\"" + px(x) + "\" cy=\"" + px(y) + "\" r=\"5\"/>";
        case 1:
            return path({{-4.5, -4.5}, {4.5, -4.5}, {4.5, 4.5}, {-4.5, 4.5}});
        case 2:
            return path({{0, -6}, {5.5, 4}, {-5.5, 4}});
        case 3:
            return path({{0, -6.5}, {6.5, 0}, {0, 6.5}, {-6.5, 0}});
        default:
            return path({{0, 6}, {5.5, -4}, {-5.5, -4}});
    }
}

Plot plot_bars(const Chart& chart) {
    const auto labels = labels_of(chart);
    const auto series = series_of(chart);
    const double thick = series.size() > 1 ? 11 : 14, between = 10, top = 6;
    Axis axis = axis_for(values_of(chart, true), chart.x_full, chart.x_log, chart.x_unit);
    axis.from_px = label_width(labels);
    axis.to_px = plot_width - 84;  // room for the last bar's number
    const Scale scale = chart_scale(chart, true);
    std::string bars;
    double y = top;
    for (const std::string& label : labels) {
        const double start = y;
        for (const Chart::Point& point : chart.points) {
            if (point.label != label) continue;
            const double end = axis.at(point.x);
            bars += rect(axis.from_px, y, end - axis.from_px, thick,
                         css_of(index_of(series, point.series), point.measured));
            bars += text(end + 5, y + thick - 2, format(point.x, chart.x_unit, scale).with("\xC2\xA0"),
                         " class=\"number\"");
            y += thick + 2;
        }
        bars += text(axis.from_px - 8, (start + y) / 2 + 3, label_of(label), " text-anchor=\"end\"");
        y += between;
    }
    return {plot_width, y + 42, x_grid(axis, top, y, axis_title(chart)) + bars};
}

Plot plot_stacked(const Chart& chart) {
    const auto labels = labels_of(chart);
    const auto series = series_of(chart);
    std::vector<double> ends(labels.size(), 0.0);
    for (const Chart::Point& point : chart.points)
        if (std::isfinite(point.x) && point.x > 0) ends[index_of(labels, point.label)] += point.x;
    Axis axis = axis_for(ends, chart.x_full, false, chart.x_unit);  // parts of a sum have no logarithmic axis
    axis.from_px = label_width(labels);
    axis.to_px = plot_width - 20;
    const double thick = 18, step = 28, top = 6;
    std::string bars;
    for (size_t row = 0; row < labels.size(); ++row) {
        const double y = top + static_cast<double>(row) * step;
        double sum = 0;
        for (const Chart::Point& point : chart.points) {
            if (point.label != labels[row] || !(point.x > 0) || !std::isfinite(point.x)) continue;
            const double start = axis.at(sum), end = axis.at(sum += point.x);
            const size_t number = index_of(series, point.series);
            bars += rect(start, y, end - start, thick, css_of(number, point.measured));
            const std::string inside = series_letter(number);
            if (end - start > 8 * static_cast<double>(inside.size()) + 4)
                bars += text((start + end) / 2, y + thick - 5, inside,
                             point.measured ? " class=\"inside\" text-anchor=\"middle\""
                                            : " class=\"number\" text-anchor=\"middle\"");
        }
        bars += text(axis.from_px - 8, y + thick - 5, label_of(labels[row]), " text-anchor=\"end\"");
    }
    const double bottom = top + static_cast<double>(labels.size()) * step;
    return {plot_width, bottom + 42, x_grid(axis, top, bottom, axis_title(chart)) + bars};
}

Plot plot_scatter(const Chart& chart) {
    const double top = 28, bottom = 330;
    const auto series = series_of(chart);
    Axis x = axis_for(values_of(chart, true), chart.x_full, chart.x_log, chart.x_unit);
    Axis y = axis_for(values_of(chart, false), chart.y_full, false, chart.y_unit);
    x.from_px = 84, x.to_px = plot_width - 24;
    y.from_px = bottom, y.to_px = top;
    std::string out = x_grid(x, top, bottom, axis_title(chart));
    for (const Tick& tick : y.ticks(5))
        out += line(x.from_px, y.at(tick.value), x.to_px, y.at(tick.value), "grid") +
               text(x.from_px - 8, y.at(tick.value) + 4, tick.text, " class=\"tick\" text-anchor=\"end\"");
    out += line(x.from_px, top, x.from_px, bottom, "axis") +
           text(4, 14, html(truncate(clean(chart.y_title), 90)), " class=\"what\"");
    struct Box {
        double left, top, right, bottom;
    };
    std::vector<Box> taken;
    for (const Chart::Point& point : chart.points) {
        const double px_x = x.at(point.x), px_y = y.at(point.y);
        taken.push_back({px_x - 7, px_y - 7, px_x + 7, px_y + 7});
        out += series_mark(index_of(series, point.series), px_x, px_y, point.measured);
    }
    // A name that finds no free place is in the table below.
    for (const Chart::Point& point : chart.points) {
        const double width =
            static_cast<double>(std::min(width_of(clean(point.label)), label_letters)) * letter;
        const double px_x = x.at(point.x), px_y = y.at(point.y);
        struct Place {
            double left, middle, anchor_x;
            const char* anchor;
        };
        const Place places[] = {{px_x + 10, px_y, px_x + 10, ""},
                                {px_x - 10 - width, px_y, px_x - 10, " text-anchor=\"end\""},
                                {px_x - width / 2, px_y - 15, px_x, " text-anchor=\"middle\""},
                                {px_x - width / 2, px_y + 15, px_x, " text-anchor=\"middle\""},
                                {px_x + 8, px_y - 13, px_x + 8, ""},
                                {px_x - 8 - width, px_y - 13, px_x - 8, " text-anchor=\"end\""}};
        for (const Place& place : places) {
            const Box box{place.left, place.middle - 7, place.left + width, place.middle + 7};
            const bool free = box.left >= x.from_px && box.right <= plot_width && box.top >= 16 &&
                              box.bottom <= bottom &&
                              std::none_of(taken.begin(), taken.end(), [&](const Box& other) {
                                  return box.left < other.right && other.left < box.right &&
                                         box.top < other.bottom && other.top < box.bottom;
                              });
            if (!free) continue;
            taken.push_back(box);
            out += text(place.anchor_x, place.middle + 4, label_of(point.label), place.anchor);
            break;
        }
    }
    return {plot_width, bottom + 42, out};
}

}  // namespace attnscope::reports
