#pragma once
#include "attnscope/render.h"

namespace attnscope::cli {

/// Width and colour of standard output: NO_COLOR and TERM=dumb are obeyed, a pipe gets 80 columns without
/// colour.
TextOptions terminal_options(bool to_stdout);

}  // namespace attnscope::cli
