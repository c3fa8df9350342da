#pragma once
#include <string>

#include "attnscope/report.h"
#include "escape.h"

namespace attnscope::reports {

std::string html_finding(const Finding& finding, size_t number, Ids& ids);

}  // namespace attnscope::reports
