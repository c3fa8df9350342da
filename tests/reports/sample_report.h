#pragma once
#include "attnscope/report.h"

namespace attnscope::test {

/// Every feature of a Report once: seven implementations on a virtual A100, one refused, values missing,
/// charts of each kind, more findings than are open at once. Its numbers are made up where no fact gives
/// them; only their rendering is tested.
Report sample_report();

/// As a real GPU would give it: measured, with counters and times.
Report measured_report();

/// Seven implementations with 30 kernels each, with names as long as PyTorch's: for limits of size.
Report large_report();

/// All its values are absent: a run of which nothing could be read but names.
Report missing_report();

/// What a trace can do to us, everywhere that a string goes.
Report hostile_report(const std::string& text);

}  // namespace attnscope::test
