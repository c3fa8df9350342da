#include "units.h"

#include <charconv>
#include <cmath>

namespace attnscope::importer {
namespace {

struct Scaled {
    double scale = 1;
    std::string base;
};

/// One side of the fraction bar.
Scaled side(std::string_view unit, bool below) {
    struct Time {
        const char* name;
        double ns;
    };
    constexpr Time times[] = {{"second", 1e9},  {"s", 1e9},  {"sec", 1e9},   {"msecond", 1e6}, {"ms", 1e6},
                              {"usecond", 1e3}, {"us", 1e3}, {"nsecond", 1}, {"ns", 1}};
    for (const Time& time : times)
        if (unit == time.name) return {below ? time.ns / 1e9 : time.ns, below ? "second" : "ns"};
    constexpr std::string_view prefixes = "KMGTP";
    constexpr std::string_view scalable[] = {"byte",   "hz",   "inst",  "cycle", "sector", "request",
                                             "thread", "warp", "block", "flop",  "Hz",     "B"};
    for (const std::string_view word : scalable) {
        if (unit == word) return {1, std::string(word)};
        if (unit.size() != word.size() + 1 || !unit.ends_with(word)) continue;
        const char first = unit.front() == 'k' ? 'K' : unit.front();
        const size_t power = prefixes.find(first);
        if (power != std::string_view::npos) return {std::pow(1000.0, double(power + 1)), std::string(word)};
    }
    return {1, std::string(unit)};
}

Scaled split(std::string_view unit) {
    const size_t bar = unit.find('/');
    Scaled top = side(unit.substr(0, bar), false);
    if (bar == std::string_view::npos) return top;
    const Scaled bottom = side(unit.substr(bar + 1), true);
    return {top.scale / bottom.scale, top.base + "/" + bottom.base};
}

}  // namespace

std::optional<double> grouped_number(std::string_view text) {
    char digits[64];
    size_t size = 0;
    for (const char c : text) {
        if (c == ',') continue;
        if (size == sizeof digits) return std::nullopt;
        digits[size++] = c;
    }
    double value = 0;
    const auto read = std::from_chars(digits, digits + size, value);
    if (read.ec != std::errc() || read.ptr != digits + size || !std::isfinite(value)) return std::nullopt;
    return value;
}

double unit_scale(std::string_view unit) {
    return split(unit).scale;
}

std::string base_unit(std::string_view unit) {
    return split(unit).base;
}

}  // namespace attnscope::importer
