// Marks on a plane, under roofs, with their names where there is room for them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "../chart_table.h"
#include "../unicode.h"
#include "axis.h"
#include "escape.h"
#include "plot.h"
#include "svg.h"

namespace attnscope::reports {
namespace {

constexpr double kTop = 20, kBottom = 250, kMostLabel = 170;
constexpr double kBeside = 16;  // farther names have a line to their mark

struct Box {
    double left, top, right, bottom;
    double distance(double x, double y) const {
        return std::hypot(std::max({left - x, 0.0, x - right}), std::max({top - y, 0.0, y - bottom}));
    }
    bool meets(const Box& other) const {
        return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
};

/// Where texts and marks already are.
class Places {
  public:
    explicit Places(Box page) : page_(page) {}

    void take(const Box& box) { taken_.push_back(box); }
    bool is_free(const Box& box) const {
        return box.left >= page_.left && box.right <= page_.right && box.top >= page_.top &&
               box.bottom <= page_.bottom &&
               std::none_of(taken_.begin(), taken_.end(), [&](const Box& other) { return box.meets(other); });
    }

  private:
    Box page_;
    std::vector<Box> taken_;
};

std::vector<double> values(const Chart& chart, bool x) {
    std::vector<double> out;
    for (const Chart::Point& p : chart.points)
        if (is_drawn(chart, p)) out.push_back(*(x ? p.x : p.y).number);
    return out;
}

class Scatter {
  public:
    explicit Scatter(const Chart& chart)
        : chart_(chart),
          x_(axis_for(chart.x, values(chart, true))),
          y_(axis_for(chart.y, values(chart, false))),
          places_({0, kTop - 6, plot_width, kBottom}) {
        y_.from_px = kBottom;
        y_.to_px = kTop;
        double widest = 0;
        for (const Tick& tick : y_ticks()) widest = std::max(widest, svg::number_width(tick.text));
        x_.from_px = std::min(widest + 6, 90.0);
        x_.to_px = plot_width - 8;
    }

    Plot draw() {
        std::string out = grid();
        // Marks first: a name never covers one.
        std::string links, marks;
        for (const Chart::Point& p : chart_.points) {
            if (!is_drawn(chart_, p)) continue;
            const double x = x_.at(*p.x.number), y = y_.at(*p.y.number);
            places_.take({x - 5.5, y - 5.5, x + 5.5, y + 5.5});
            marks_.push_back({x, y});
            marks += series_mark(series_number(chart_, p.series), x, y, p.measured);
            if (const Chart::Point* before = previous(p))
                links += svg::line(x_.at(*before->x.number), y_.at(*before->y.number), x, y, "link");
        }
        for (const Chart::Line& line : chart_.lines) out += roof(line);
        out += links + marks;
        for (const Chart::Point& p : chart_.points)
            if (is_drawn(chart_, p) && !has_later(p)) out += name(p);
        return {kBottom + 36, out};
    }

  private:
    static double tick_height(const Tick&) { return 11; }
    std::vector<Tick> y_ticks() const { return y_.ticks(8, tick_height); }

    const Chart::Point* previous(const Chart::Point& point) const {
        const Chart::Point* found = nullptr;
        for (const Chart::Point& p : chart_.points) {
            if (&p == &point) return found;
            if (p.label == point.label && is_drawn(chart_, p)) found = &p;
        }
        return nullptr;
    }

    bool has_later(const Chart::Point& point) const {
        for (const Chart::Point* p = &point + 1; p < chart_.points.data() + chart_.points.size(); ++p)
            if (p->label == point.label && is_drawn(chart_, *p)) return true;
        return false;
    }

    std::string grid() const {
        std::string out = svg::grid_across(x_, kTop, kBottom), lines;
        for (const Tick& tick : y_ticks()) {
            const double y = y_.at(tick.value);
            lines += "M" + px(x_.from_px) + " " + px(y) + "H" + px(x_.to_px);
            out += svg::text(x_.from_px - 5, y + 4, html(tick.text), "k", svg::Anchor::end);
        }
        out += "<path class=\"grid\" d=\"" + lines + "\"/><path class=\"axis\" d=\"M" + px(x_.from_px) + " " +
               px(kTop) + "V" + px(kBottom) + "H" + px(x_.to_px) + "\"/>";
        return out + svg::text(0, 9, html(svg::fit_number(y_.title(chart_.y.title), plot_width)), "k") +
               svg::text(x_.to_px, kBottom + 29, html(svg::fit_number(x_.title(chart_.x.title), plot_width)),
                         "k", svg::Anchor::end);
    }

    /// A line with its words along its end.
    std::string roof(const Chart::Line& line) {
        const double x1 = x_.at(line.x1), y1 = y_.at(line.y1), x2 = x_.at(line.x2), y2 = y_.at(line.y2);
        const bool level = std::abs(y2 - y1) < 1;
        std::string words = clean(line.label);
        if (is_shown(line.height))
            words += " " + format(*line.height.number, line.height.unit).with("\xC2\xA0");
        words = svg::fit_number(words, level ? x2 - x_.from_px : std::hypot(x2 - x1, y2 - y1) - 12);
        std::string out = svg::line(x1, y1, x2, y2, "roof");
        const double width = svg::number_width(words);
        if (level) {
            places_.take({x2 - width, y1 - 19, x2, y1 + 2});
            return out + svg::text(x2, y1 - 8, html(words), "k", svg::Anchor::end);
        }
        const double angle = std::atan2(y2 - y1, x2 - x1);
        for (double along = 0; along < width; along += 6) {  // small boxes along the slope
            const double x = x2 - std::cos(angle) * (10 + along), y = y2 - std::sin(angle) * (10 + along);
            places_.take({x - 10, y - 12, x + 2, y + 2});
        }
        return out + "<text class=\"k e\" transform=\"translate(" + px(x2) + " " + px(y2) + ")rotate(" +
               px(angle * 180 / std::numbers::pi) + ")\" x=\"-10\" y=\"-5\">" + html(words) + "</text>";
    }

    /// The name on the nearest free place around a mark, with a line to it where that is not beside it. One
    /// that finds none is in the table.
    std::string name(const Chart::Point& point) {
        const std::string words = svg::fit_label(point.label, kMostLabel);
        if (words.empty()) return {};
        const double x = x_.at(*point.x.number), y = y_.at(*point.y.number), width = svg::label_width(words);
        struct Side {
            double dx, dy;
            svg::Anchor anchor;
        };
        constexpr Side sides[] = {{1, 0, svg::Anchor::start},    {-1, 0, svg::Anchor::end},
                                  {0, -1, svg::Anchor::middle},  {0, 1, svg::Anchor::middle},
                                  {.7, -.7, svg::Anchor::start}, {-.7, -.7, svg::Anchor::end},
                                  {.7, .7, svg::Anchor::start},  {-.7, .7, svg::Anchor::end}};
        for (const double away : {10.0, 16.0, 26.0, 38.0, 52.0, 68.0, 90.0})
            for (const Side& side : sides) {
                const double at_x = x + side.dx * away, at_y = y + side.dy * (away + 3);
                const double left = side.anchor == svg::Anchor::start ? at_x
                                    : side.anchor == svg::Anchor::end ? at_x - width
                                                                      : at_x - width / 2;
                const Box box{left, at_y - 7, left + width, at_y + 7};
                const bool led = away > kBeside;
                if (!places_.is_free(box) || (!led && !is_nearest(box, x, y))) continue;
                places_.take(box);
                std::string out;
                if (led)
                    out = svg::line(x + side.dx * 6, y + side.dy * 6, at_x,
                                    at_y - (side.dy > 0   ? 7
                                            : side.dy < 0 ? -7
                                                          : 0),
                                    "leader");
                return out + svg::text(at_x, at_y + 4, html(words), "", side.anchor);
            }
        return {};
    }

    /// No other mark is as near to the text: it would be read as that one's name.
    bool is_nearest(const Box& box, double x, double y) const {
        const double own = box.distance(x, y);
        return std::none_of(marks_.begin(), marks_.end(), [&](const auto& mark) {
            return std::hypot(mark.first - x, mark.second - y) > 1 &&
                   box.distance(mark.first, mark.second) < own + 2;
        });
    }

    const Chart& chart_;
    Axis x_, y_;
    std::vector<std::pair<double, double>> marks_;
    Places places_;
};

}  // namespace

Plot plot_scatter(const Chart& chart) {
    return Scatter(chart).draw();
}

}  // namespace attnscope::reports
