#pragma once
#include <string>

#include "../format.h"

namespace attnscope::reports {

/// <data value="268435456" title="...">268.4 MB</data>: the title has what the rounded text leaves out.
std::string html_number(const Value& value, const Formatted& shown, const std::string& more = {});

/// The value and the letters of its origin, or a dash and its reason, where there is room for words.
std::string html_value(const Value& value);

}  // namespace attnscope::reports
