#pragma once
// Verdicts as a table for a terminal: one line each, whatever the width.
#include <vector>

#include "attnscope/gate.h"
#include "text/writer.h"

namespace attnscope::reports {

/// Verdict, where, metric, base, head, change, limit with the policy's line. What does not fit is shortened,
/// then left out: the change first, then the limit, base and head; the line below says so.
void write_verdicts(TextWriter& out, const std::vector<const gate::Verdict*>& verdicts);

}  // namespace attnscope::reports
