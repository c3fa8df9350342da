#pragma once
#include "attnscope/analysis.h"

namespace attnscope {

const char* to_string(ImplementationStatus status);  ///< "ran", "refused", "failed", "unknown"

}  // namespace attnscope
