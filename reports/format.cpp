#include "format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace attnscope::reports {
namespace {

constexpr double kib = 1024, mib = 1024.0 * 1024;

constexpr std::array byte_scales{Scale{1, "B"}, Scale{kib, "KiB"}, Scale{1e6, "MB"}, Scale{1e9, "GB"},
                                 Scale{1e12, "TB"}};
constexpr std::array time_scales{Scale{1, "ns"}, Scale{1e3, "µs"}, Scale{1e6, "ms"}, Scale{1e9, "s"}};
constexpr std::array rate_scales{Scale{1, "B/s"}, Scale{1e3, "kB/s"}, Scale{1e6, "MB/s"}, Scale{1e9, "GB/s"},
                                 Scale{1e12, "TB/s"}};
constexpr std::array flop_scales{Scale{1, "FLOP"},    Scale{1e3, "kFLOP"},  Scale{1e6, "MFLOP"},
                                 Scale{1e9, "GFLOP"}, Scale{1e12, "TFLOP"}, Scale{1e15, "PFLOP"}};
constexpr std::array flop_rate_scales{Scale{1, "FLOP/s"},    Scale{1e3, "kFLOP/s"},  Scale{1e6, "MFLOP/s"},
                                      Scale{1e9, "GFLOP/s"}, Scale{1e12, "TFLOP/s"}, Scale{1e15, "PFLOP/s"}};
constexpr std::array percent_scales{Scale{1, "%"}};
constexpr std::array plain_scales{Scale{1, ""}};

std::span<const Scale> scales_of(Unit unit) {
    switch (unit) {
        case Unit::bytes:
            return byte_scales;
        case Unit::nanoseconds:
            return time_scales;
        case Unit::bytes_per_second:
            return rate_scales;
        case Unit::flop:
            return flop_scales;
        case Unit::flop_per_second:
            return flop_rate_scales;
        case Unit::percent:
            return percent_scales;
        default:
            return plain_scales;
    }
}

bool is_integral(double value) {
    return std::nearbyint(value) == value;
}

std::string digits(double value, int decimals) {
    std::array<char, 400> buffer;  // 1e308 in fixed notation has 309 digits
    const auto end = decimals < 0 ? std::to_chars(buffer.data(), buffer.data() + buffer.size(), value)
                                  : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                                  std::chars_format::fixed, decimals);
    return {buffer.data(), end.ptr};
}

constexpr double least_in_decimals = 1e-11;  // below, with an exponent

int decimals_of(double scaled) {
    const double size = std::fabs(scaled);
    if (size >= 999.95) return 0;
    if (size >= 9.995) return 1;
    if (size >= 0.1 || size == 0) return 2;
    return static_cast<int>(std::ceil(-std::log10(size))) + 1;  // two digits that say something
}

}  // namespace

std::string with_separators(double value, int decimals) {
    std::string text = digits(value, decimals);
    if (text.find_first_of("en") != std::string::npos) return text;  // 1e+30, nan, inf
    size_t end = text.find('.');
    if (end == std::string::npos) end = text.size();
    const size_t first = text.starts_with('-') ? 1 : 0;
    for (size_t at = end; at > first + 3;) text.insert(at -= 3, 1, ',');
    return text;
}

Scale scale_of(Unit unit, double largest) {
    const auto scales = scales_of(unit);
    const double size = std::fabs(largest);
    Scale chosen = scales.front();
    for (const Scale& scale : scales.subspan(1)) {
        const double from = scale.divisor == 1e6 && unit == Unit::bytes ? mib : scale.divisor * 0.99995;
        if (size >= from) chosen = scale;  // 999,960 ns would read 1,000.0 µs
    }
    return chosen;
}

Formatted format(double value, Unit unit, Scale scale) {
    if (std::fabs(value) < scale.divisor / 10) scale = scale_of(unit, value);  // 0 is "0 B", not "0 GB"
    const double scaled = value / scale.divisor;
    if (scaled != 0 && std::fabs(scaled) < least_in_decimals) return {digits(scaled, -1), scale.name, false};
    const bool plain = scale.divisor == 1 && unit != Unit::percent;
    const int decimals = is_integral(scaled) ? 0 : decimals_of(scaled);
    Formatted result{with_separators(scaled, decimals), scale.name, false};
    // A huge plain number that is not counted is no better for its forty digits.
    if (plain && std::fabs(scaled) >= 1e15) result.number = digits(scaled, -1);
    result.rounded =
        !is_integral(scaled * std::pow(10.0, decimals)) || (scale.divisor > 1 && !is_integral(scaled));
    return result;
}

Formatted format(double value, Unit unit) {
    return format(value, unit, scale_of(unit, value));
}

std::string format_with_words(double value, Unit unit) {
    const std::string text = format(value, unit).with();
    const bool one = value == 1;
    switch (unit) {
        case Unit::registers:
            return text + (one ? " register" : " registers");
        case Unit::threads:
            return text + (one ? " thread" : " threads");
        case Unit::ctas:
            return text + (one ? " CTA" : " CTAs");
        case Unit::warps:
            return text + (one ? " warp" : " warps");
        default:
            return text;
    }
}

std::string format_exact(double value, Unit unit) {
    const std::string text = with_separators(value, is_integral(value) && std::fabs(value) < 1e15 ? 0 : -1);
    const std::string name = to_string(unit);
    return name.empty() ? text : text + " " + name;
}

Scale shared_scale(const std::vector<double>& values, Unit unit) {
    double largest = 0, least = 0;
    for (const double value : values) {
        const double size = std::fabs(value);
        if (size == 0 || !std::isfinite(size)) continue;
        largest = std::max(largest, size);
        least = least == 0 ? size : std::min(least, size);
    }
    Scale scale = scale_of(unit, largest);
    const auto scales = scales_of(unit);
    for (size_t i = scales.size(); i-- > 1;) {
        const Scale& lower = scales[i - 1];
        if (scales[i].divisor == scale.divisor && least < scale.divisor && largest / lower.divisor < 10000)
            scale = lower;
    }
    return scale;
}

Scale shared_scale(const std::vector<const Value*>& values) {
    std::vector<double> numbers;
    Unit unit = Unit::none;
    for (const Value* value : values) {
        if (!is_shown(*value)) continue;
        unit = value->unit;
        numbers.push_back(*value->number);
    }
    return shared_scale(numbers, unit);
}

Scale chart_scale(const Chart& chart, bool x) {
    std::vector<double> numbers;
    for (const Chart::Point& point : chart.points)
        if (const Value& value = x ? point.x : point.y; is_shown(value)) numbers.push_back(*value.number);
    return shared_scale(numbers, x ? chart.x.unit : chart.y.unit);
}

bool is_shown(const Value& value) {
    return value.number && std::isfinite(*value.number);
}

std::string absent_reason(const Value& value) {
    if (value.number && !std::isfinite(*value.number)) return "not a finite number";
    return value.absent.empty() ? "no reason was given" : value.absent;
}

}  // namespace attnscope::reports
