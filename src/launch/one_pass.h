#pragma once
#include <string>
#include <vector>

#include "attnscope/counter_host.h"

namespace attnscope::launch {

struct CounterSetup;

/// "core,memory" -> core, memory.
std::vector<std::string> comma_parts(const std::string& text);

/// As much of the request, from its beginning, as fits in one pass on every chip; for an error's remedy.
/// Whole sets where one fits, single metrics otherwise.
std::vector<std::string> fits_in_one_pass(const CounterSetup& setup, const CounterHost& host);

}  // namespace attnscope::launch
