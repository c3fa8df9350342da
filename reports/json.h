#pragma once
#include <string>

#include "attnscope/report.h"

namespace attnscope::reports {

/// render_json's content on one line, with no character that means anything to an HTML or XML parser.
std::string embeddable_json(const Report& report);

}  // namespace attnscope::reports
