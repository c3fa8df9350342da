#include "chart.h"

#include "../words.h"
#include "axis.h"
#include "plot.h"
#include "table.h"
#include "value.h"

namespace attnscope::reports {
namespace {

std::string legend(const Chart& chart) {
    const auto series = series_of(chart);
    bool measured = false, predicted = false;
    for (const Chart::Point& point : chart.points) (point.measured ? measured : predicted) = true;
    std::string out = "<ul class=\"legend\">";
    for (size_t i = 0; i < series.size() && series.size() > 1; ++i) {
        const std::string mark = chart.kind == Chart::Kind::scatter
                                     ? series_mark(i, 8, 7, measured)
                                     : "<rect class=\"" + series_class(i) + (measured ? "" : " hollow") +
                                           "\" x=\"1\" y=\"2\" width=\"12\" height=\"10\"/>";
        out += "<li><svg width=\"16\" height=\"14\" aria-hidden=\"true\">" + mark + "</svg>" +
               (chart.kind == Chart::Kind::stacked_bars ? "<b>" + series_letter(i) + "</b> " : "") +
               html(series[i]) + "</li>";
    }
    if (predicted)
        out += std::string("<li>hollow: predicted") +
               (measured ? ", filled: measured" : "; nothing here was measured") + "</li>";
    if (measured && !predicted) out += "<li>filled: measured</li>";
    return out + "</ul>\n";
}

std::string data_table(const Chart& chart, const std::string& title, Ids& ids) {
    const bool scatter = chart.kind == Chart::Kind::scatter;
    const bool named = series_of(chart).size() > 1;
    const std::string caption = ids.make("d-", chart.id);
    std::string out = "<details class=\"data\"><summary>The numbers of this chart</summary>\n" +
                      scroll_region(caption) + "<table>\n<caption class=\"sr\"><b id=\"" + caption +
                      "\">Numbers of the chart: " + title +
                      "</b></caption>\n<thead><tr><th scope=\"col\">what</th>";
    if (named) out += "<th scope=\"col\">series</th>";
    out +=
        "<th scope=\"col\" class=\"n\">" + (chart.x_title.empty() ? "value" : html(chart.x_title)) + "</th>";
    if (scatter)
        out += "<th scope=\"col\" class=\"n\">" + (chart.y_title.empty() ? "value" : html(chart.y_title)) +
               "</th>";
    out += "<th scope=\"col\">kind</th></tr></thead>\n<tbody>\n";
    const Scale x_scale = chart_scale(chart, true), y_scale = chart_scale(chart, false);
    for (const Chart::Point& point : chart.points) {
        out += "<tr><th scope=\"row\">" + html(point.label) + "</th>";
        if (named) out += "<td>" + html(point.series) + "</td>";
        out += "<td class=\"n\">" + html_plain(point.x, chart.x_unit, x_scale) + "</td>";
        if (scatter) out += "<td class=\"n\">" + html_plain(point.y, chart.y_unit, y_scale) + "</td>";
        out += std::string("<td>") + (point.measured ? "measured" : "<i>predicted</i>") + "</td></tr>\n";
    }
    return out + "</tbody></table></div></details>\n";
}

}  // namespace

std::string html_chart(const Chart& chart, Ids& ids) {
    const std::string title = html(chart.title);
    if (chart.points.empty())
        return "<p class=\"empty\">" + title + ": nothing to draw. " + html(chart.sentence) + "</p>\n";
    const Plot plot = chart.kind == Chart::Kind::bars           ? plot_bars(chart)
                      : chart.kind == Chart::Kind::stacked_bars ? plot_stacked(chart)
                                                                : plot_scatter(chart);
    const std::string id = ids.make("c-", chart.id.empty() ? chart.title : chart.id);
    return "<figure>\n<figcaption id=\"" + id + "-h\"><b>" + title + "</b> " + html(chart.sentence) +
           "</figcaption>\n" + legend(chart) + scroll_region(id + "-h") +
           "<svg class=\"chart\" viewBox=\"0 0 " + px(plot.width) + " " + px(plot.height) +
           "\" role=\"img\" aria-labelledby=\"" + id + "-t " + id + "-d\"><title id=\"" + id + "-t\">" +
           title + "</title><desc id=\"" + id + "-d\">" + html(chart.sentence) +
           " The numbers are in the table that follows.</desc>" + plot.svg + "</svg></div>\n" +
           data_table(chart, title, ids) + "</figure>\n";
}

}  // namespace attnscope::reports
