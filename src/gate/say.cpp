#include "say.h"

#include <cmath>
#include <cstdio>

#include "analysis/words.h"

namespace attnscope::gate {

std::string say_number(double value, Unit unit) {
    if (unit == Unit::bytes) return words::bytes(value);
    if (unit == Unit::percent) return words::percent(value);
    if (unit == Unit::nanoseconds) return words::milliseconds(value);
    return words::number(value);
}

std::string say_short(double value, Unit unit) {
    const auto scaled = [&](double divisor, const char* name) {
        char text[48];
        std::snprintf(text, sizeof text, "%.4g %s", value / divisor, name);
        return std::string(text);
    };
    if (unit == Unit::percent) return scaled(1, "%");
    if (unit != Unit::bytes) return say_number(value, unit);
    // As the reports scale: on-chip memory is quoted in KiB, traffic in units of ten.
    const double size = std::fabs(value);
    if (size < 1024) return words::number(value) + " B";
    if (size < 1024 * 1024) return scaled(1024, "KiB");
    if (size < 1e9) return scaled(1e6, "MB");
    return size < 1e12 ? scaled(1e9, "GB") : scaled(1e12, "TB");
}

std::string say(const Measurement& m) {
    if (!m.text.empty()) return m.text;
    if (!m.samples.empty()) return say_number(m.number(), find_gate_metric(m.metric)->unit);
    return "absent (" + m.absent + ")";
}

std::string say_change(double before, double after, Unit unit) {
    if (before == after) return "same";
    const double by = after - before, share = before == 0 ? 0 : 100 * by / before;
    // A share of a handful, or one that rounds to nothing, says less than the amount.
    const bool few = (unit == Unit::count || unit == Unit::registers) && std::fabs(before) < 1000;
    if (few || std::fabs(share) < 0.005) return (by > 0 ? "+" : "-") + say_short(std::fabs(by), unit);
    char text[48];
    std::snprintf(text, sizeof text, std::fabs(share) < 10 ? "%+.2f %%" : "%+.1f %%", share);
    return text;
}

}  // namespace attnscope::gate
