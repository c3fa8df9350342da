#include "axis.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace attnscope::reports {
namespace {

constexpr double kSlack = 1 + 1e-9;

/// 1, 2 or 5 times a power of ten, at least `value`.
double round_up(double value) {
    if (!(value > 0) || !std::isfinite(value)) return 1;
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (value <= factor * power * kSlack) return factor * power;
    return 10 * power;
}

/// 1, 2 or 5 times a power of ten, at most `value`.
double round_down(double value) {
    const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
    for (const double factor : {5.0, 2.0})
        if (value * kSlack >= factor * power) return factor * power;
    return power;
}

/// Powers of ten; with 2 and 5 times them where there are few, every n-th where there are many.
std::vector<double> log_steps(double from, double to, int finer) {
    std::vector<double> out;
    const int first = static_cast<int>(std::floor(std::log10(from) + 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(to) + 1e-9));
    const int every = finer < 0 ? -finer : 1;
    for (int power = first; power <= last; power += every)
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double value = factor * std::pow(10, power);
            if (factor > 1 && finer < 1) break;
            if (value * kSlack >= from && value <= to * kSlack) out.push_back(value);
        }
    return out;
}

}  // namespace

double Axis::at(double value) const {
    const double low = log ? std::log10(from) : from, high = log ? std::log10(to) : to;
    double place = log ? (value > 0 ? std::log10(value) : low) : value;
    if (!(place >= low)) place = low;
    place = std::min(place, high);
    return from_px + (place - low) / (high - low) * (to_px - from_px);
}

std::vector<Tick> Axis::ticks(double apart, double (*size)(const Tick&)) const {
    std::vector<Tick> ticks;
    const double divisor = scale.divisor;
    for (int attempt = 6; attempt >= -8; --attempt) {
        std::vector<double> values;
        if (log) {
            if (attempt > 1) continue;
            values = log_steps(from, to, attempt == 0 ? -1 : attempt);
        } else {
            if (attempt < 1) break;
            // A scale of 1,024 has round numbers of its own.
            const double step = round_up((to - from) / attempt / divisor) * divisor;
            for (int i = 0; i <= 2 * attempt && from + i * step <= to * kSlack; ++i)
                values.push_back(from + i * step);
        }
        ticks.clear();
        bool fits = true;
        double free_from = -1e9;
        for (const double value : values) {
            const Formatted shown = format(value, unit, scale);
            Tick tick{value, value == 0 || shown.unit == scale.name ? shown.number : shown.with("\xC2\xA0")};
            const double place = std::abs(at(value) - from_px), half = size(tick) / 2;
            fits = fits && place - half >= free_from;
            free_from = place + half + apart;
            ticks.push_back(std::move(tick));
        }
        if (fits && !ticks.empty()) return ticks;
    }
    return ticks;
}

std::string Axis::title(const std::string& words) const {
    const std::string name = scale.name;
    return name.empty() ? words : words.empty() ? name : words + " (" + name + ")";
}

Axis axis_for(const Chart::Axis& spec, const std::vector<double>& values) {
    double least = 0, most = 0;
    for (const double value : values) {
        if (!std::isfinite(value) || value <= 0) continue;
        least = least == 0 ? value : std::min(least, value);
        most = std::max(most, value);
    }
    Axis axis;
    axis.unit = spec.unit;
    axis.log = spec.log && least > 0;
    const bool full = spec.full > 0 && std::isfinite(spec.full);
    axis.scale = scale_of(spec.unit, full ? spec.full : most);
    axis.to = full ? spec.full : round_up(most / axis.scale.divisor) * axis.scale.divisor;
    if (!full && most > 0 && !axis.log) {  // the round number next above, in tenths of the decade
        const double step = round_up(most / axis.scale.divisor / 5) * axis.scale.divisor;
        axis.to = std::ceil(most / step - 1e-9) * step;
    }
    if (spec.from > 0 && std::isfinite(spec.from))
        axis.from = spec.from;
    else if (axis.log)
        axis.from = round_down(least / 1.001);
    // Powers of ten read best in the unit of the least of them.
    if (axis.log && axis.to / scale_of(spec.unit, axis.from).divisor < 1e5)
        axis.scale = scale_of(spec.unit, axis.from);
    if (!(axis.to > axis.from)) axis.to = axis.log ? axis.from * 10 : axis.from + 1;
    return axis;
}

std::string px(double coordinate) {
    std::array<char, 32> buffer;
    if (!std::isfinite(coordinate)) coordinate = 0;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                   std::round(coordinate * 10) / 10, std::chars_format::fixed, 1);
    std::string text(buffer.data(), end.ptr);
    if (text == "-0.0") return "0";
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace attnscope::reports
