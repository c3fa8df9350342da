#include "axis.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace attnscope::reports {
namespace {

/// 1, 2 or 5 times a power of ten, at least `value`.
double round_up(double value) {
    if (!(value > 0) || !std::isfinite(value)) return 1;
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (value <= factor * power * (1 + 1e-9)) return factor * power;
    return 10 * power;
}

}  // namespace

double Axis::at(double value) const {
    const double low = log ? std::log10(from) : from, high = log ? std::log10(to) : to;
    double place = log ? (value > 0 ? std::log10(value) : low) : value;
    if (!(place >= low)) place = low;
    place = std::min(place, high);
    return from_px + (place - low) / (high - low) * (to_px - from_px);
}

std::vector<Tick> Axis::ticks(int about) const {
    std::vector<Tick> ticks;
    const auto add = [&](double value) {
        Scale scale = scale_of(unit, log ? value : to);
        // A logarithmic axis has powers of ten for ticks, of bytes too.
        if (log && unit == Unit::bytes && value >= 1e3 && value < 1e9)
            scale = value < 1e6 ? Scale{1e3, "kB"} : Scale{1e6, "MB"};
        ticks.push_back({value, format(value, unit, scale).with("\xC2\xA0")});
    };
    if (log) {
        const double decades = std::log10(to / from);
        const double step = std::max(1.0, std::ceil(decades / about));
        for (double power = std::ceil(std::log10(from) - 1e-9); power <= std::log10(to) + 1e-9; power += step)
            add(std::pow(10, power));
        return ticks;
    }
    // A scale of 1,024 has round numbers of its own.
    const double divisor = scale_of(unit, to).divisor;
    const double step = round_up((to - from) / about / divisor) * divisor;
    for (int i = 0; i <= 2 * about && from + i * step <= to * (1 + 1e-9); ++i) add(from + i * step);
    return ticks;
}

Axis axis_for(const std::vector<double>& values, double full, bool log, Unit unit) {
    double least = 0, most = 0;
    for (const double value : values) {
        if (!std::isfinite(value) || value <= 0) continue;
        least = least == 0 ? value : std::min(least, value);
        most = std::max(most, value);
    }
    Axis axis;
    axis.unit = unit;
    axis.log = log && least > 0;
    const double divisor = scale_of(unit, most).divisor;
    axis.to = full > 0 && std::isfinite(full) ? full : round_up(most / divisor / 10) * 10 * divisor;
    if (full <= 0 && most > 0) {  // the round number next above, in tenths of the decade
        const double step = round_up(most / divisor / 5) * divisor;
        axis.to = std::ceil(most / step - 1e-9) * step;
    }
    if (axis.log) {
        axis.from = std::pow(10, std::floor(std::log10(least) - 1e-9));
        if (full <= 0) axis.to = std::pow(10, std::ceil(std::log10(most)));
        if (axis.to <= axis.from) axis.to = axis.from * 10;
    }
    return axis;
}

std::string px(double coordinate) {
    std::array<char, 32> buffer;
    if (!std::isfinite(coordinate)) coordinate = 0;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                   std::round(coordinate * 10) / 10, std::chars_format::fixed, 1);
    std::string text(buffer.data(), end.ptr);
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace attnscope::reports
