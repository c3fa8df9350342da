#pragma once
// Values of measurements in sentences.
#include <string>

#include "attnscope/gate_facts.h"

namespace attnscope::gate {

/// "268,435,456 bytes (256 MiB)", "62.5%", "flash", "absent (its code was not read)".
std::string say(const Measurement& m);
/// The number alone: of a sum, a bound.
std::string say_number(double value, Unit unit);
/// "268.4 MB", "62.5 %": for a table's cell.
std::string say_short(double value, Unit unit);
/// "+33.5 %"; of what is counted, and from zero, the amount: "+1", "+4 KiB"; "same".
std::string say_change(double before, double after, Unit unit);

}  // namespace attnscope::gate
