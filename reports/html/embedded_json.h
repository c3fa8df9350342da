#pragma once
// The JSON report inside the page. As text it would be half of the page: it is compressed, and base64 keeps
// any text of a trace away from the browser's parser.
#include <string>

#include "attnscope/report.h"

namespace attnscope::reports {

/// A link that saves it: <a id="attnscope-report" download="report.json.gz"
/// href="data:application/gzip;base64,...">.
std::string json_link(const Report& report);

/// What prints it in a shell.
std::string json_command();

}  // namespace attnscope::reports
