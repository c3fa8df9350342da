#include "svg.h"

#include <algorithm>

#include "../unicode.h"
#include "escape.h"
#include "plot.h"

namespace attnscope::reports::svg {
namespace {

constexpr double label_letter = 7.2, number_letter = 6.6, bold_letter = 8.2;

std::string fit(const std::string& raw, double width, double letter) {
    return truncate(clean(raw), static_cast<size_t>(std::max(3.0, width / letter)));
}

/// What is too short to be seen is still a stroke.
std::string rectangle(double x, double y, double width, double height) {
    const std::string w = px(std::max(width, 0.8));
    return "M" + px(x) + " " + px(y) + "h" + w + "v" + px(height) + "h-" + w + "z";
}

}  // namespace

double label_width(std::string_view text) {
    return label_letter * static_cast<double>(width_of(text));
}

double number_width(std::string_view text) {
    return number_letter * static_cast<double>(width_of(text));
}

std::string fit_label(const std::string& raw, double width) {
    return fit(raw, width, label_letter);
}

std::string fit_number(const std::string& raw, double width) {
    return fit(raw, width, number_letter);
}

std::vector<std::string> wrap_number(const std::string& raw, double width) {
    return wrap(clean(raw), static_cast<size_t>(width / number_letter));
}

std::vector<std::string> wrap_heading(const std::string& raw, double width) {
    std::vector<std::string> lines = wrap(clean(raw), static_cast<size_t>(width / bold_letter));
    if (lines.size() > 2) {
        lines.resize(2);
        lines.back() = fit(lines.back() + " …", width, bold_letter);
    }
    return lines;
}

std::string text(double x, double y, const std::string& escaped, const char* css, Anchor anchor) {
    std::string out = "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\"";
    std::string classes = css;
    if (anchor != Anchor::start)
        classes += std::string(classes.empty() ? "" : " ") + (anchor == Anchor::middle ? "m" : "e");
    if (!classes.empty()) out += " class=\"" + classes + "\"";
    return out + ">" + escaped + "</text>";
}

std::string line(double x1, double y1, double x2, double y2, const char* css) {
    return "<path class=\"" + std::string(css) + "\" d=\"M" + px(x1) + " " + px(y1) + "L" + px(x2) + " " +
           px(y2) + "\"/>";
}

std::string bar(double x, double y, double width, double height, const std::string& css) {
    return "<path class=\"" + css + "\" d=\"" + rectangle(x, y, width, height) + "\"/>";
}

std::string hatch(double x, double y, double width, double height, const std::string& pattern) {
    return "<path fill=\"url(#" + pattern + ")\" d=\"" + rectangle(x, y, width, height) + "\"/>";
}

std::string grid_across(const Axis& axis, double top, double bottom) {
    const auto width = [](const Tick& tick) { return number_width(tick.text); };
    std::string lines, out;
    for (const Tick& tick : axis.ticks(8, width)) {
        const double x = axis.at(tick.value);
        lines += "M" + px(x) + " " + px(top) + "V" + px(bottom);
        const bool over = x + width(tick) / 2 > plot_width;
        out += text(over ? plot_width : x, bottom + 14, html(tick.text), "k",
                    over ? Anchor::end : Anchor::middle);
    }
    return "<path class=\"grid\" d=\"" + lines + "\"/>" + out;
}

}  // namespace attnscope::reports::svg
