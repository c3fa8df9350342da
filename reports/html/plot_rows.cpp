// Charts of rows under one another: bars, stacked bars, joined marks, lanes of time.
#include <algorithm>
#include <cmath>

#include "../chart_table.h"
#include "../table_view.h"
#include "../unicode.h"
#include "axis.h"
#include "escape.h"
#include "plot.h"
#include "svg.h"

namespace attnscope::reports {
namespace {

using Kind = Chart::Kind;

constexpr double kThick = 14, kStep = 20, kLine = 14, kMostLabel = 118, kGap = 5;
constexpr const char* kNoBreak = "\xC2\xA0";

struct PlotRow {
    std::string group, label;
    std::vector<const Chart::Point*> points;
    std::string note;  ///< behind the last shape
    double end = 0;    ///< where that is
};

double value_of(const Value& value) {
    return is_shown(value) ? *value.number : 0;
}

std::vector<PlotRow> rows_of(const Chart& chart) {
    std::vector<PlotRow> rows;
    for (const Chart::Point& point : chart.points) {
        const bool same = chart.kind != Kind::bars && !rows.empty() && rows.back().label == point.label &&
                          rows.back().group == point.group;
        if (!same) rows.push_back({point.group, point.label, {}, {}, 0});
        rows.back().points.push_back(&point);
    }
    return rows;
}

bool any_drawn(const Chart& chart, const PlotRow& row) {
    return std::any_of(row.points.begin(), row.points.end(),
                       [&](const Chart::Point* p) { return is_drawn(chart, *p); });
}

/// What stands behind a row: its number, the total of its parts, or what is noted.
void set_ends(const Chart& chart, std::vector<PlotRow>& rows) {
    const Scale x = chart_scale(chart, true), y = chart_scale(chart, false);
    for (PlotRow& row : rows) {
        std::vector<std::string> words;
        double sum = 0;
        for (const Chart::Point* p : row.points) {
            if (!is_drawn(chart, *p)) continue;
            if (chart.kind == Kind::stacked_bars && !is_sum(chart, *p)) sum += std::max(0.0, value_of(p->x));
            const double end = chart.kind == Kind::lanes          ? value_of(p->x) + value_of(p->y)
                               : chart.kind == Kind::stacked_bars ? sum
                                                                  : value_of(p->x);
            row.end = std::max(row.end, end);
            const bool alone = chart.kind == Kind::bars || (chart.kind == Kind::stacked_bars &&
                                                            (is_sum(chart, *p) || row.points.size() == 1));
            if (alone) words.push_back(format(value_of(p->x), chart.x.unit, x).with(kNoBreak));
            if (chart.kind == Kind::dots && is_shown(p->y))
                words.push_back(format(value_of(p->y), chart.y.unit, y).with(kNoBreak));
            if (chart.kind != Kind::lanes && !p->note.empty()) words.push_back(clean(p->note));
        }
        for (const std::string& word : words) row.note += (row.note.empty() ? "" : ", ") + word;
    }
}

/// "sdpa_cudnn: — chosen by the library", in as many lines as it needs, three at most.
std::vector<std::string> missing(const PlotRow& row) {
    const std::string reason = absent_reason(row.points.front()->x);
    std::vector<std::string> lines =
        svg::wrap_number((row.label.empty() ? "" : row.label + ": ") + dash + " " + reason, plot_width);
    if (lines.size() > 3) lines.resize(3);
    return lines;
}

class Rows {
  public:
    Rows(const Chart& chart, std::string pattern)
        : chart_(chart), pattern_(std::move(pattern)), rows_(rows_of(chart)) {
        set_ends(chart, rows_);
        set_axis();
    }

    Plot draw() {
        std::string body;
        double y = 2;
        std::string group;
        for (const PlotRow& row : rows_) {
            if (row.group != group && !row.group.empty()) {
                y += kGap;
                for (const std::string& line : svg::wrap_heading(row.group, plot_width))
                    body += svg::text(0, (y += kLine) - 2, html(line), "b");
                y += kGap;
            }
            group = row.group;
            if (any_drawn(chart_, row)) {
                if (is_above(row))
                    body += svg::text(0, (y += kLine) - 4, html(svg::fit_label(row.label, plot_width)));
                body += draw_row(row, y);
                y += kStep;
                continue;
            }
            for (const std::string& line : missing(row))
                body += svg::text(0, (y += kLine) - 3, html(line), "k");
            y += kStep - kThick;
        }
        return {y + 36, grid(y) + body};
    }

  private:
    void set_axis() {
        std::vector<double> values;
        double label = 0;
        for (const PlotRow& row : rows_) {
            if (chart_.kind == Kind::dots || chart_.kind == Kind::bars)
                for (const Chart::Point* p : row.points) values.push_back(value_of(p->x));
            values.push_back(row.end);
            if (const double width = svg::label_width(clean(row.label));
                any_drawn(chart_, row) && width <= kMostLabel)
                label = std::max(label, width);
        }
        axis_ = axis_for(chart_.x, values);
        if (!chart_.x.log) axis_.scale = chart_scale(chart_, true);  // as the numbers behind the rows
        if (chart_.kind != Kind::dots)
            axis_.log = false;  // parts of a sum and lengths have no logarithmic axis
        if (!axis_.log) axis_.from = 0;
        const double start = label > 0 ? label + 8 : 4;
        double width = plot_width - 6 - start;
        for (const PlotRow& row : rows_) {  // what stands behind a row must fit
            const double at = axis_.at(row.end);
            if (at > 0 && !row.note.empty())
                width = std::min(width, (plot_width - start - 10 - svg::number_width(row.note)) / at);
        }
        axis_.from_px = start;
        axis_.to_px = start + std::max(width, 80.0);
    }

    /// A name that is too long to stand before its row.
    static bool is_above(const PlotRow& row) { return svg::label_width(clean(row.label)) > kMostLabel; }

    std::string draw_row(const PlotRow& row, double y) const {
        std::string out;
        if (!is_above(row))
            out = svg::text(axis_.from_px - 8, y + 11, html(clean(row.label)), "", svg::Anchor::end);
        if (chart_.kind == Kind::dots) out += draw_marks(row, y + kThick / 2);
        double sum = 0;
        for (const Chart::Point* p : row.points) {
            if (!is_drawn(chart_, *p) || is_sum(chart_, *p) || chart_.kind == Kind::dots) continue;
            double from = 0, to = value_of(p->x);
            if (chart_.kind == Kind::lanes) from = to, to += value_of(p->y);
            if (chart_.kind == Kind::stacked_bars) from = sum, to = sum += std::max(0.0, to);
            if (to > from || chart_.kind != Kind::stacked_bars)
                out += draw_bar(*p, axis_.at(from), axis_.at(to), y);
        }
        if (!row.note.empty()) {
            const double x = axis_.at(row.end) + (chart_.kind == Kind::dots ? 9 : 4);
            out += svg::text(x, y + 11, html(svg::fit_number(row.note, plot_width - x)), "v");
        }
        return out;
    }

    std::string draw_bar(const Chart::Point& point, double from, double to, double y) const {
        const size_t number = series_number(chart_, point.series);
        const bool shaded = !pattern_.empty() && point.series == chart_.shaded;
        std::string out =
            svg::bar(from, y, to - from, kThick, series_class(number, point.measured && !shaded));
        if (shaded) out += svg::hatch(from, y, to - from, kThick, pattern_);
        if (chart_.kind == Kind::bars) return out;
        const std::string name = clean(point.series), letter = series_letter(number);
        const bool whole = svg::number_width(name) + 8 <= to - from;
        if (!whole && to - from < 11) return out;
        return out + svg::text((from + to) / 2, y + 11, whole ? html(name) : letter,
                               point.measured && !shaded ? "inside" : "v", svg::Anchor::middle);
    }

    std::string draw_marks(const PlotRow& row, double y) const {
        std::string marks;
        double least = 1e9, most = 0;
        for (const Chart::Point* p : row.points) {
            if (!is_drawn(chart_, *p)) continue;
            const double x = axis_.at(value_of(p->x));
            least = std::min(least, x);
            most = std::max(most, x);
            marks += series_mark(series_number(chart_, p->series), x, y, p->measured);
        }
        return svg::line(least, y, most, y, "link") + marks;
    }

    std::string grid(double bottom) const {
        std::string out = svg::grid_across(axis_, 2, bottom);
        out += svg::line(axis_.from_px, bottom, axis_.to_px, bottom, "axis");
        // Under the axis where it fits, else from the picture's edge.
        const std::string title = svg::fit_number(axis_.title(chart_.x.title), plot_width);
        const double width = svg::number_width(title);
        return out + svg::text(std::min(axis_.from_px, plot_width - width), bottom + 29, html(title), "k");
    }

    const Chart& chart_;
    std::string pattern_;
    std::vector<PlotRow> rows_;
    Axis axis_;
};

}  // namespace

Plot plot_rows(const Chart& chart, const std::string& pattern) {
    Plot plot = Rows(chart, pattern).draw();
    if (!pattern.empty())
        plot.svg = "<pattern id=\"" + pattern +
                   "\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
                   "patternTransform=\"rotate(45)\"><path class=\"" +
                   series_class(series_number(chart, chart.shaded), true) +
                   "\" d=\"M0 0h2v5h-2z\"/></pattern>" + plot.svg;
    return plot;
}

}  // namespace attnscope::reports
