#pragma once
#include <string>

#include "../format.h"

namespace attnscope::reports {

/// <span title="268,435,456 bytes = 8 x ...">268.4 MB</span>: the title has what rounding left out, behind
/// "=" the formula, in parentheses whatever more there is to say. A number of which there is nothing more to
/// say stands for itself.
std::string html_number(const Value& value, const Formatted& shown, const std::string& more = {});

/// The value and the letters of its origin, or a dash and its reason, where there is room for words.
std::string html_value(const Value& value);

}  // namespace attnscope::reports
