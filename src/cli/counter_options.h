#pragma once
// The options about counters that `collect` and `attention` share.
#include <CLI/CLI.hpp>
#include <string>

#include "attnscope/launch.h"

namespace attnscope::cli {

/// `by_default`: what --counters means when it is not given. The request's own values are the other defaults.
void declare_counters(CLI::App& app, CollectRequest& request, const std::string& by_default);

/// After parsing. Throws Error for an option that has no meaning without counters.
void check_counters(const CLI::App& app, const CollectRequest& request);

}  // namespace attnscope::cli
