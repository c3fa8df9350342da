#pragma once
#include <string>
#include <vector>

#include "attnscope/report.h"
#include "escape.h"

namespace attnscope::reports {

/// Their claims as a list, the first ones whole, the others folded with their count.
std::string html_findings(const std::vector<Finding>& findings, Ids& ids);

}  // namespace attnscope::reports
