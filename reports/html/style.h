#pragma once
#include <string>
#include <string_view>

namespace attnscope::reports {

/// report.css, as embedded at build.
std::string_view style_sheet();

/// The policy's source expression for exactly this style sheet: "sha256-...".
std::string style_hash();

}  // namespace attnscope::reports
