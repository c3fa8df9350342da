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
    if (unit == Unit::bytes && std::fabs(value) >= 1e4) {
        const char* name = "kB";
        double scaled = value / 1e3;
        for (const char* next : {"MB", "GB", "TB"}) {
            if (std::fabs(scaled) < 1e3) break;
            scaled /= 1e3;
            name = next;
        }
        char text[48];
        std::snprintf(text, sizeof text, "%.4g %s", scaled, name);
        return text;
    }
    if (unit == Unit::bytes) return words::number(value) + " B";
    return say_number(value, unit);
}

std::string say(const Measurement& m) {
    if (!m.text.empty()) return m.text;
    if (!m.samples.empty()) return say_number(m.number(), find_gate_metric(m.metric)->unit);
    return "absent (" + m.absent + ")";
}

std::string say_change(double before, double after) {
    if (before == after) return "same";
    if (before == 0) return "new";
    const double change = 100 * (after - before) / before;
    char text[48];
    std::snprintf(text, sizeof text, std::fabs(change) < 10 ? "%+.2f %%" : "%+.1f %%", change);
    return text;
}

}  // namespace attnscope::gate
