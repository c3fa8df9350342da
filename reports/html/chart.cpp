#include "chart.h"

#include <algorithm>

#include "../chart_table.h"
#include "../format.h"
#include "../unicode.h"
#include "axis.h"
#include "plot.h"
#include "svg.h"
#include "table.h"

namespace attnscope::reports {
namespace {

using Kind = Chart::Kind;

constexpr size_t legend_letters = 44;

bool any_drawn(const Chart& chart, bool measured) {
    return std::any_of(chart.points.begin(), chart.points.end(),
                       [&](const Chart::Point& p) { return p.measured == measured && is_drawn(chart, p); });
}

std::string swatch(const Chart& chart, const std::string& series, const std::string& pattern) {
    const size_t number = series_number(chart, series);
    const bool measured = std::any_of(chart.points.begin(), chart.points.end(), [&](const Chart::Point& p) {
        return p.series == series && p.measured;
    });
    if (chart.kind == Kind::scatter || chart.kind == Kind::dots) return series_mark(number, 7, 7, measured);
    const bool shaded = !pattern.empty() && series == chart.shaded;
    return svg::bar(1, 2, 12, 10, series_class(number, measured && !shaded)) +
           (shaded ? svg::hatch(1, 2, 12, 10, pattern) : "");
}

std::string legend(const Chart& chart, const std::string& pattern) {
    const auto series = series_of(chart);
    const bool lettered = chart.kind == Kind::stacked_bars || chart.kind == Kind::lanes;
    std::string out;
    for (const std::string& name : series)
        if (series.size() > 1)
            out += "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\">" +
                   swatch(chart, name, pattern) + "</svg>" +
                   (lettered ? "<b>" + series_letter(series_number(chart, name)) + "</b> " : "") +
                   html(truncate(clean(name), legend_letters)) + "</li>";
    const bool measured = any_drawn(chart, true), predicted = any_drawn(chart, false);
    const bool elsewhere =
        measured && std::all_of(chart.points.begin(), chart.points.end(), [&](const Chart::Point& p) {
            const Value& value = chart.kind == Kind::scatter ? p.y : p.x;
            return !p.measured || value.provenance.ground == Ground::imported;
        });
    const std::string filled = elsewhere ? "filled: from elsewhere" : "filled: measured";
    if (predicted)
        out += std::string("<li>hollow: predicted") +
               (measured ? ", " + filled : "; nothing here was measured") + "</li>";
    if (measured && !predicted) out += "<li>" + filled + "</li>";
    return out.empty() ? out : "<ul class=\"legend\">" + out + "</ul>\n";
}

/// Names on a plane of which no mark is drawn, with the reason; rows say it where they stand.
std::string not_drawn(const Chart& chart) {
    if (chart.kind != Kind::scatter) return {};
    std::vector<std::string> told;
    std::string out;
    for (const Chart::Point& point : chart.points) {
        const auto same_label = [&](const Chart::Point& p) {
            return p.label == point.label && is_drawn(chart, p);
        };
        if (std::any_of(chart.points.begin(), chart.points.end(), same_label) ||
            std::find(told.begin(), told.end(), point.label) != told.end())
            continue;
        told.push_back(point.label);
        out += (out.empty() ? "" : "; ") + html(point.label) + ": — " +
               html(absent_reason(is_shown(point.x) ? point.y : point.x));
    }
    return out.empty() ? out : "Not drawn: " + out + ".";
}

std::string notes(const Chart& chart) {
    const std::string scales = scales_of(chart), missing = not_drawn(chart);
    if (scales.empty() && missing.empty()) return {};
    return "<p class=\"notes\">" + html(scales) + (scales.empty() || missing.empty() ? "" : " ") + missing +
           "</p>\n";
}

std::string figure(const Chart& chart, Ids& ids) {
    const std::string title = html(chart.title);
    const std::string id = ids.make("c-", chart.id.empty() ? chart.title : chart.id);
    const bool shaded = !chart.shaded.empty() && chart.kind != Kind::scatter && chart.kind != Kind::dots &&
                        std::any_of(chart.points.begin(), chart.points.end(),
                                    [&](const Chart::Point& p) { return p.series == chart.shaded; });
    const std::string pattern = shaded ? id + "-p" : "";
    const Plot plot = chart.kind == Kind::scatter ? plot_scatter(chart) : plot_rows(chart, pattern);
    return "<figure>\n<figcaption><b id=\"" + id + "\">" + title + "</b> <span id=\"" + id + "-d\">" +
           html(chart.sentence) + "</span></figcaption>\n" + legend(chart, pattern) +
           "<svg class=\"chart\" viewBox=\"0 0 " + px(plot_width) + " " + px(plot.height) +
           "\" role=\"img\" aria-labelledby=\"" + id + "\" aria-describedby=\"" + id + "-d\">" + plot.svg +
           "</svg>\n" + notes(chart) +
           "<details class=\"data\"><summary>The numbers of this chart</summary>\n" +
           html_table(table_of(chart), ids, {.title = false, .column_help = false, .in_full = false}) +
           "</details>\n</figure>\n";
}

}  // namespace

std::string html_charts(const std::vector<Chart>& charts, Ids& ids) {
    std::string figures, without;
    for (const Chart& chart : charts) {
        if (chart.points.empty())
            without += "<p class=\"empty\"><b>" + html(chart.title) + "</b>: nothing to draw. " +
                       html(chart.sentence) + "</p>\n";
        else
            figures += figure(chart, ids);
    }
    return (figures.empty() ? "" : "<div class=\"pictures\">\n" + figures + "</div>\n") + without;
}

}  // namespace attnscope::reports
