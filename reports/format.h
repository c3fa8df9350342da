#pragma once
// Numbers for people: the one place that scales and rounds.
//
// Rounding, the same in every format: a scaled value has two decimals below 10 and one below 1,000 ("2.04
// TB/s", "268.4 MB"), and none where they would be zeros because the value is exact ("25 %", "48 KiB"). Bytes
// below 1 MiB are in KiB, as on-chip memory is quoted; above, in MB = 10^6 bytes, as traffic and bandwidth
// are. Everything else scales by thousands; what has no scale is not rounded from 10^15 on, and
// nothing is below 10^-11.
#include <string>
#include <vector>

#include "attnscope/report.h"

namespace attnscope::reports {

/// A unit at a magnitude.
struct Scale {
    double divisor = 1;
    const char* name = "";  ///< "MB"; empty for plain numbers and for counts, which keep thousands separators
};

Scale scale_of(Unit unit, double largest);

struct Formatted {
    std::string number;  ///< "268.4"
    std::string unit;    ///< "MB", or empty
    bool rounded = false;

    std::string with(const char* separator = " ") const {
        return unit.empty() ? number : number + separator + unit;
    }
};

Formatted format(double value, Unit unit);
/// In a column's scale, unless the value would be under a tenth of its unit: then in its own.
Formatted format(double value, Unit unit, Scale scale);

/// As above, and things that are counted get their word: "255 registers", "1 CTA".
std::string format_with_words(double value, Unit unit);

/// Not rounded: "268,435,456 bytes", "12.5 %".
std::string format_exact(double value, Unit unit);

/// 1234567 -> "1,234,567"; not rounded when `decimals` < 0 (shortest digits that read back the same).
std::string with_separators(double value, int decimals);

/// One scale for a column: that of its largest value, or a lower one where the least would be under 1 and the
/// largest keeps to four digits.
Scale shared_scale(const std::vector<double>& values, Unit unit);
Scale shared_scale(const std::vector<const Value*>& values);

/// One scale for an axis of a chart, and for that column of its table.
Scale chart_scale(const Chart& chart, bool x);

/// A number that can be shown: there, and finite.
bool is_shown(const Value& value);
/// Why it cannot be shown.
std::string absent_reason(const Value& value);

}  // namespace attnscope::reports
