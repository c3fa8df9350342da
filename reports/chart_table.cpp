#include "chart_table.h"

#include <algorithm>

#include "format.h"

namespace attnscope::reports {
namespace {

Cell words(const std::string& text) {
    return {{}, text.empty() ? " " : text, {}, 0};
}

bool has(const Chart& chart, const auto& property) {
    return std::any_of(chart.points.begin(), chart.points.end(), property);
}

std::string one_axis(const Chart::Axis& axis, const std::string& before) {
    std::string out = axis.scale;
    if (axis.log) out += out.empty() ? "logarithmic" : " (logarithmic)";
    return out.empty() ? out : before + out + ". ";
}

}  // namespace

bool is_drawn(const Chart& chart, const Chart::Point& point) {
    const bool plane = chart.kind == Chart::Kind::scatter || chart.kind == Chart::Kind::lanes;
    return is_shown(point.x) && (!plane || is_shown(point.y));
}

bool is_sum(const Chart& chart, const Chart::Point& point) {
    return chart.kind == Chart::Kind::stacked_bars && point.series.empty();
}

Table table_of(const Chart& chart) {
    Table table;
    table.id = chart.id;
    table.title = "Numbers of the chart: " + chart.title;
    const bool groups = has(chart, [](const Chart::Point& p) { return !p.group.empty(); });
    const bool series =
        has(chart, [&](const Chart::Point& p) { return p.series != chart.points.front().series; });
    const bool y = has(chart, [](const Chart::Point& p) { return p.y.number || !p.y.absent.empty(); });
    const bool notes = has(chart, [](const Chart::Point& p) { return !p.note.empty(); });
    const auto title = [](const std::string& of) { return of.empty() ? std::string("value") : of; };
    if (groups) table.columns.push_back({"group", "of", "", "", false});
    table.columns.push_back({"label", "what", "", "", false});
    if (series) table.columns.push_back({"series", "series", "", "", false});
    table.columns.push_back({"x", title(chart.x.title), "", "", true});
    if (y) table.columns.push_back({"y", title(chart.y.title), "", "", true});
    if (notes) table.columns.push_back({"note", "note", "", "", false});
    for (const Chart::Point& point : chart.points) {
        Row row;
        row.id = std::to_string(table.rows.size() + 1);
        if (groups) row.cells.push_back(words(point.group));
        row.cells.push_back(words(point.label));
        if (series) row.cells.push_back(words(point.series.empty() ? "total" : point.series));
        row.cells.push_back({point.x, {}, {}, 0});
        // No number was meant: not a missing one.
        if (y)
            row.cells.push_back(point.y.number || !point.y.absent.empty() ? Cell{point.y, {}, {}, 0}
                                                                          : words(""));
        if (notes) row.cells.push_back(words(point.note));
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::string scales_of(const Chart& chart) {
    const std::string end = chart.x.full > 0 && chart.kind != Chart::Kind::lanes ? "full width: " : "";
    std::string out;
    switch (chart.kind) {
        case Chart::Kind::scatter:
            out = one_axis(chart.x, "Across: " + end) + one_axis(chart.y, "Upwards: ");
            break;
        case Chart::Kind::dots:
            out = one_axis(chart.x, "Scale: " + end) +
                  one_axis(chart.y, "Beside the marks: " + chart.y.title + ", ");
            break;
        default:
            out = one_axis(chart.x, "Scale: " + end);
    }
    if (!out.empty()) out.pop_back();
    return out;
}

}  // namespace attnscope::reports
