#pragma once
#include <CLI/CLI.hpp>

#include "attnscope/attention.h"

namespace attnscope {

/// Declares the problem's options on a command.
void declare(CLI::App& app, AttentionProblem& problem);

}  // namespace attnscope
